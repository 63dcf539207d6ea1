// One reciprocal for several divisions: 1/x = y (1/xy). The unit that takes
// reciprocals is the scarcest one in a step of attention.
#pragma once

#include "lowering/common/FloatRange.h"
#include "lowering/nvvm/NVVMEmit.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

namespace qm::gpu {
using nvvm::LocBuilder;
using nvvm::Values;

/// A constant over divisors whose product neither overflows nor underflows.
/// With `afn` on the division a quotient may be off by 2^-25 of its dividend,
/// and divisors may be as large as they like.
bool canShareReciprocal(mlir::arith::DivFOp divide,
                        lowering::FloatRange divisor);

/// The quotients of `count` elements. `valueOf` gives what a value of the
/// division's block is in an element. A NaN in one divisor is one in all other
/// quotients.
Values emitSharedReciprocal(
    LocBuilder &b, mlir::arith::DivFOp divide, unsigned count,
    llvm::function_ref<mlir::Value(unsigned element, mlir::Value value)>
        valueOf);

} // namespace qm::gpu
