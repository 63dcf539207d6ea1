//===- Microkernel.cpp - outer products held in registers -----------------===//

#include "lowering/cpu/Microkernel.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace qm::cpu;

using Values = VectorBuilder::Values;

Value TransposedTile::vectorAddress(VectorBuilder &b, Value row,
                                    int64_t vector) const {
  Value start =
      b.address(base, b.getF32Type(), b.mul(row, b.i64(vectors * b.lanes())));
  return b.address(start, b.getF32Type(), vector * b.lanes());
}
Value TransposedTile::vectorAddress(VectorBuilder &b, int64_t row,
                                    int64_t vector) const {
  return b.address(base, b.getF32Type(), (row * vectors + vector) * b.lanes());
}

/// One register tile: for k in [0, steps): acc[r][v] += scalar(k, r) *
/// right[k][v]. `acc` is row-major; `scalarAddress` gives the f32 to broadcast.
static Values
emitRegisterTile(VectorBuilder &b, Value steps, int64_t rows,
                 TransposedTile right, Values acc,
                 function_ref<Value(Value k, int64_t row)> scalarAddress) {
  return b.loop(
      b.i64(0), steps, 1, acc, [&](Value k, ValueRange carried) -> Values {
        Values sums(carried), vectors;
        for (int64_t v = 0; v < right.vectors; ++v)
          vectors.push_back(
              b.loadVector(right.vectorAddress(b, k, v), b.getF32Type()));
        for (int64_t row = 0; row < rows; ++row) {
          Value scalar =
              b.splat(b.loadScalar(scalarAddress(k, row), b.getF32Type()));
          for (auto [v, vector] : llvm::enumerate(vectors)) {
            Value &sum = sums[row * right.vectors + v];
            sum = b.fma(scalar, vector, sum);
          }
        }
        return sums;
      });
}

void qm::cpu::emitScores(VectorBuilder &b, ScalarRows k, TransposedTile q,
                         TransposedTile scores, Value keys, int64_t headDim,
                         int64_t microRows) {
  Type f32 = b.getF32Type();
  auto emitRows = [&](Value key, int64_t rows) {
    Values rowBases;
    for (int64_t row = 0; row < rows; ++row)
      rowBases.push_back(
          b.address(k.base, f32, b.mul(b.add(key, b.i64(row)), k.stride)));
    Values sums = emitRegisterTile(
        b, b.i64(headDim), rows, q, Values(rows * q.vectors, b.f32Vector(0.0f)),
        [&](Value d, int64_t row) { return b.address(rowBases[row], f32, d); });
    for (int64_t row = 0; row < rows; ++row)
      for (int64_t v = 0; v < q.vectors; ++v)
        b.storeVector(sums[row * q.vectors + v],
                      scores.vectorAddress(b, b.add(key, b.i64(row)), v));
  };
  Value wholeEnd = b.sub(keys, b.i64(microRows - 1));
  b.loop(b.i64(0), wholeEnd, microRows,
         [&](Value key) { emitRows(key, microRows); });
  if (microRows == 1)
    return;
  Value rest = b.sub(keys, arith::RemSIOp::create(b, keys, b.i64(microRows)));
  b.loop(rest, keys, 1, [&](Value key) { emitRows(key, 1); });
}

void qm::cpu::emitAccumulate(VectorBuilder &b, ScalarRows v, TransposedTile p,
                             TransposedTile output, ValueRange alpha,
                             Value keys, int64_t headDim, int64_t microRows) {
  Type f32 = b.getF32Type();
  auto emitColumns = [&](Value column, int64_t columns) {
    Values sums;
    for (int64_t c = 0; c < columns; ++c)
      for (int64_t i = 0; i < p.vectors; ++i) {
        Value address = output.vectorAddress(b, b.add(column, b.i64(c)), i);
        sums.push_back(
            arith::MulFOp::create(b, b.loadVector(address, f32), alpha[i]));
      }
    Value corner = b.address(v.base, f32, column);
    sums =
        emitRegisterTile(b, keys, columns, p, sums, [&](Value key, int64_t c) {
          Value row = b.address(corner, f32, b.mul(key, v.stride));
          return b.address(row, f32, c);
        });
    for (int64_t c = 0; c < columns; ++c)
      for (int64_t i = 0; i < p.vectors; ++i)
        b.storeVector(sums[c * p.vectors + i],
                      output.vectorAddress(b, b.add(column, b.i64(c)), i));
  };
  int64_t whole = headDim / microRows * microRows;
  b.loop(b.i64(0), b.i64(whole), microRows,
         [&](Value column) { emitColumns(column, microRows); });
  if (whole < headDim)
    emitColumns(b.i64(whole), headDim - whole);
}
