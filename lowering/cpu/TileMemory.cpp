//===- TileMemory.cpp - tiles between memory and scratch ------------------===//

#include "lowering/cpu/TileMemory.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"

using namespace mlir;
using namespace qm::cpu;

static constexpr int64_t cacheLine = 64;

Scratch::Scratch(VectorBuilder &b, Value slotsPointer) {
  Value placeholder = b.i64(0);
  sizeOp = placeholder.getDefiningOp<arith::ConstantOp>();
  base = LLVM::AllocaOp::create(b, slotsPointer.getType(), b.getI8Type(),
                                placeholder, cacheLine);
}

Value Scratch::allocate(VectorBuilder &b, int64_t floats) {
  Value pointer = b.address(base, b.getI8Type(), size);
  size += llvm::alignTo(floats * 4, cacheLine);
  return pointer;
}

void Scratch::finish(Builder &b) {
  sizeOp.setValueAttr(b.getI64IntegerAttr(size));
}

TransposedTile QueryTile::strip(VectorBuilder &b, Value index) const {
  Value offset = b.mul(index, b.i64(columns * stripRows(b)));
  return {b.address(base, b.getF32Type(), offset), vectors};
}

void qm::cpu::forEachStrip(VectorBuilder &b, const TileRows &rows,
                           function_ref<void(Value)> body) {
  b.loop(b.i64(0), rows.strips, 1, body);
}

/// Runs `body` on the address of every vector of the strips in use.
static void forEachVector(VectorBuilder &b, QueryTile tile,
                          const TileRows &rows,
                          function_ref<void(Value address)> body) {
  int64_t stripFloats = tile.columns * tile.stripRows(b);
  b.loop(b.i64(0), b.mul(rows.strips, b.i64(stripFloats)), b.lanes(),
         [&](Value i) { body(b.address(tile.base, b.getF32Type(), i)); });
}

/// Runs `body` for every row that exists with its place in the tile: element
/// (row, column) lies at `place` + column * stripRows.
static void forEachRow(VectorBuilder &b, QueryTile tile, const TileRows &rows,
                       function_ref<void(Value row, Value place)> body) {
  Value stripRows = b.i64(tile.stripRows(b));
  b.loop(b.i64(0), rows.count, 1, [&](Value row) {
    Value strip = arith::DivUIOp::create(b, row, stripRows);
    Value lane = arith::RemUIOp::create(b, row, stripRows);
    Value base = tile.strip(b, strip).base;
    body(row, b.address(base, b.getF32Type(), lane));
  });
}

void qm::cpu::emitFill(VectorBuilder &b, QueryTile tile, const TileRows &rows,
                       float value) {
  forEachVector(b, tile, rows, [&](Value address) {
    b.storeVector(b.f32Vector(value), address);
  });
}

void qm::cpu::emitRoundRows(VectorBuilder &b, QueryTile tile,
                            const TileRows &rows, Type type) {
  forEachVector(b, tile, rows, [&](Value address) {
    Value value = b.loadVector(address, b.getF32Type());
    b.storeVector(b.roundTo(value, type), address);
  });
}

void qm::cpu::emitLoadRows(VectorBuilder &b, const TensorSlots &source,
                           const TileRows &rows, QueryTile tile) {
  int64_t stripRows = tile.stripRows(b);
  Value ragged = arith::CmpIOp::create(b, arith::CmpIPredicate::slt, rows.count,
                                       b.mul(rows.strips, b.i64(stripRows)));
  b.when(ragged, [&] { emitFill(b, tile, rows, 0.0f); });
  Type type = source.elementType;
  forEachRow(b, tile, rows, [&](Value row, Value place) {
    Value address = source.rowAddress(b, rows.batch, rows.head,
                                      b.add(rows.firstInMemory, row));
    b.loop(b.i64(0), b.i64(tile.columns), 1, [&](Value column) {
      Value value = b.loadScalar(b.address(address, type, column), type);
      Value offset = b.mul(column, b.i64(stripRows));
      b.storeScalar(b.toF32(value), b.address(place, b.getF32Type(), offset));
    });
  });
}

void qm::cpu::emitStoreRows(VectorBuilder &b, QueryTile tile,
                            const TileRows &rows,
                            const TensorSlots &destination) {
  Type type = destination.elementType;
  int64_t stripRows = tile.stripRows(b);
  // A statistic is a tile of one column whose tensor has no column dimension.
  forEachRow(b, tile, rows, [&](Value row, Value place) {
    Value address = destination.rowAddress(b, rows.batch, rows.head,
                                           b.add(rows.firstInMemory, row));
    b.loop(b.i64(0), b.i64(tile.columns), 1, [&](Value column) {
      Value offset = b.mul(column, b.i64(stripRows));
      Value value = b.loadScalar(b.address(place, b.getF32Type(), offset),
                                 b.getF32Type());
      b.storeScalar(b.fromF32(value, type), b.address(address, type, column));
    });
  });
}

void qm::cpu::emitConvertKeys(VectorBuilder &b, ScalarRows source,
                              Type sourceType, Type type, Value count,
                              int64_t columns, Value scratch) {
  int64_t whole = columns / b.lanes() * b.lanes();
  auto convert = [&](Value value) {
    value = b.toF32(value);
    return type.isF32() || type == sourceType ? value : b.roundTo(value, type);
  };
  b.loop(b.i64(0), count, 1, [&](Value row) {
    Value from = b.address(source.base, sourceType, b.mul(row, source.stride));
    Value to = b.address(scratch, b.getF32Type(), b.mul(row, b.i64(columns)));
    b.loop(b.i64(0), b.i64(whole), b.lanes(), [&](Value column) {
      Value value =
          b.loadVector(b.address(from, sourceType, column), sourceType);
      b.storeVector(convert(value), b.address(to, b.getF32Type(), column));
    });
    b.loop(b.i64(whole), b.i64(columns), 1, [&](Value column) {
      Value value =
          b.loadScalar(b.address(from, sourceType, column), sourceType);
      b.storeScalar(convert(value), b.address(to, b.getF32Type(), column));
    });
  });
}
