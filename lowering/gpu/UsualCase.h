// Functions with a usual case: one that is cheap where their argument is small,
// as it usually is in a whole block, and one that is right everywhere. In the
// IR that is a select with a mark:
//
//   %near = arith.cmpf ole, |%x|, %limit
//   %y = arith.select %near, %cheap, %general {attn.usual}
//
// A target that branches emits one case or the other for many elements at a
// time; whoever knows nothing of the mark emits a select.
#pragma once

#include "mlir/Dialect/Arith/IR/Arith.h"

namespace qm::gpu {

enum class Case { General, Usual };

/// `usual` where |x| <= limit, else `general`, which has to be right there too.
mlir::Value createUsualCase(mlir::OpBuilder &b, mlir::Location loc,
                            mlir::Value x, float limit, mlir::Value usual,
                            mlir::Value general);

/// |value| <= limit: where that holds for all elements the usual case is right.
struct UsualRange {
  mlir::Value value; ///< of the region
  float limit;
};

/// Whether `value` is the general case of a marked select.
bool isGeneralCase(mlir::Value value);

/// The marked selects of a region's block.
llvm::SmallVector<mlir::arith::SelectOp> findUsualCases(mlir::Block &body);
UsualRange getUsualRange(mlir::arith::SelectOp select);
inline mlir::Value getCase(mlir::arith::SelectOp select, Case which) {
  return which == Case::Usual ? select.getTrueValue() : select.getFalseValue();
}

} // namespace qm::gpu
