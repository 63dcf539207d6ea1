// What the passes qm-lower-to-* have in common: a module whose kernels become
// functions.
#pragma once

#include "dialect/AttnOps.h"
#include "lowering/common/TargetInfo.h"

#include "mlir/IR/BuiltinOps.h"

namespace qm::lowering {

/// Emits a function for every kernel whose target `isOurs` accepts, and erases
/// the kernel; kernels for other targets are left alone. Returns how many there
/// were, or failure at the first that `emit` refuses, with an error of its own.
llvm::FailureOr<unsigned>
lowerKernels(mlir::ModuleOp module,
             llvm::function_ref<bool(const TargetInfo &)> isOurs,
             llvm::function_ref<llvm::LogicalResult(attn::KernelOp)> emit);

} // namespace qm::lowering
