//===- TileMemory.h - tiles between memory and scratch ----------*- C++ -*-===//
//
// Rows of q and o are transposed on the way (see Microkernel.h for why); keys
// and values are used where they lie if they are f32, else converted to f32
// once a block. Scratch is one aligned stack allocation of the entry function.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "lowering/cpu/ArgumentSlots.h"
#include "lowering/cpu/Microkernel.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

namespace qm::cpu {

/// The stack memory of one call of the entry, carved out at compile time.
class Scratch {
public:
  Scratch(VectorBuilder &b, mlir::Value slotsPointer);
  /// Pointer to `floats` f32, aligned to a cache line.
  mlir::Value allocate(VectorBuilder &b, int64_t floats);
  int64_t bytes() const { return size; }
  /// Fixes the size of the allocation; call once, last.
  void finish(mlir::Builder &b);

private:
  mlir::arith::ConstantOp sizeOp;
  mlir::Value base;
  int64_t size = 0;
};

/// A query tile in scratch: strips of `vectors` x lanes rows, each strip
/// transposed, one after the other.
struct QueryTile {
  mlir::Value base;
  int64_t columns, vectors;

  int64_t stripRows(VectorBuilder &b) const { return vectors * b.lanes(); }
  TransposedTile strip(VectorBuilder &b, mlir::Value index) const;
};

/// Which rows of the call a query tile holds.
struct TileRows {
  mlir::Value batch, head, first; ///< i64
  mlir::Value firstInMemory;      ///< row of the tensors, i64
  mlir::Value count;              ///< rows that exist, i64
  mlir::Value strips;             ///< strips with at least one of them, i64
};

/// Runs `body` for every strip in use.
void forEachStrip(VectorBuilder &b, const TileRows &rows,
                  llvm::function_ref<void(mlir::Value strip)> body);

/// Every element of the strips in use becomes `value`.
void emitFill(VectorBuilder &b, QueryTile tile, const TileRows &rows,
              float value);
/// Rows past the end become 0.
void emitLoadRows(VectorBuilder &b, const TensorSlots &source,
                  const TileRows &rows, QueryTile tile);
/// Rows past the end are not written; elements are rounded to the tensor's
/// type.
void emitStoreRows(VectorBuilder &b, QueryTile tile, const TileRows &rows,
                   const TensorSlots &destination);
/// Every element rounded to `type`, in place.
void emitRoundRows(VectorBuilder &b, QueryTile tile, const TileRows &rows,
                   mlir::Type type);

/// Copies `count` rows of `columns` elements of `source` to f32 scratch,
/// rounded to `type` on the way.
void emitConvertKeys(VectorBuilder &b, ScalarRows source, mlir::Type sourceType,
                     mlir::Type type, mlir::Value count, int64_t columns,
                     mlir::Value scratch);

} // namespace qm::cpu
