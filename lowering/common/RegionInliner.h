// Inlines a score, mask, sink, map, classify or bounds region into code for one
// element or for a vector of elements.
#pragma once

#include "dialect/AttnOps.h"
#include "mlir/IR/IRMapping.h"

#include <functional>

namespace qm::lowering {

/// What only the machine knows: how a captured buffer is read and where an
/// extent is found.
struct RegionEnvironment {
  /// One element of a buffer; indices are i32 or vector<n x i32>, the result
  /// the element type or a vector of it. The callback clamps the indices.
  std::function<mlir::Value(mlir::OpBuilder &, attn::LoadOp,
                            llvm::ArrayRef<mlir::Value> indices)>
      load;
  /// An extent of the call as i32.
  std::function<mlir::Value(mlir::OpBuilder &, attn::ExtentOp)> extent;
  /// Where `value` belongs in a sorted buffer; all i32. The callback clamps the
  /// indices.
  std::function<mlir::Value(mlir::OpBuilder &, attn::SearchOp,
                            llvm::ArrayRef<mlir::Value> indices,
                            mlir::Value value)>
      search;
  /// The least and the greatest element between `indices` and `last`; all i32.
  /// The callback clamps the indices.
  std::function<std::pair<mlir::Value, mlir::Value>(
      mlir::OpBuilder &, attn::ExtremaOp, llvm::ArrayRef<mlir::Value> indices,
      mlir::Value last)>
      extrema;
};

/// Clones the operations of `region` at the builder's insertion point, its
/// arguments bound to `arguments`, and returns what it yields. An operation
/// with a vector operand becomes one on vectors, its scalar operands broadcast;
/// one with scalars only stays scalar. Values from outside the region are
/// looked up in `outer`, else used as they are.
llvm::SmallVector<mlir::Value>
inlineRegion(mlir::OpBuilder &builder, mlir::Region &region,
             mlir::ValueRange arguments, const mlir::IRMapping &outer,
             const RegionEnvironment &environment);

} // namespace qm::lowering
