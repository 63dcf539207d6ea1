// What kernels for sm_75 use besides NVVMEmit.h: no cp.async there, so tiles
// travel through registers, and no conversion of two floats at once.
#pragma once

#include "lowering/nvvm/NVVMEmit.h"

namespace qm::nvvm {

/// Four i32 of global memory that no one writes while the kernel runs; zeros,
/// and nothing is read, where `predicate` does not hold; null: it does.
Values loadGlobal128(LocBuilder &b, mlir::Value predicate, mlir::Value global,
                     int64_t offset);
/// Four f32.
Values loadShared4xF32(LocBuilder &b, mlir::Value shared, int64_t offset);
/// Two f32 rounded to f16 in one i32, `low` in the low half; packPair needs
/// sm_80.
mlir::Value packHalves(LocBuilder &b, mlir::Value low, mlir::Value high);
/// The f32 `ifTrue` or `ifFalse`, chosen where this stands: chosen earlier, it
/// would need a register beside both.
mlir::Value selectInOrder(LocBuilder &b, mlir::Value condition,
                          mlir::Value ifTrue, mlir::Value ifFalse);

} // namespace qm::nvvm
