// Emits one scheduled attn.kernel as an LLVM function in the NVVM dialect: the
// frame, and a role for each warpgroup (Producer, Consumer).
#pragma once

#include "dialect/AttnOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"

namespace qm::sm90 {

/// Emits `kernel` before itself and returns the function, or reports why it
/// cannot be done.
mlir::FailureOr<mlir::LLVM::LLVMFuncOp> emitKernel(attn::KernelOp kernel);

} // namespace qm::sm90
