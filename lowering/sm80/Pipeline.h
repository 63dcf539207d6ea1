// Scheduled kernels to the LLVM and NVVM dialects.
#pragma once

namespace mlir {
class OpPassManager;
} // namespace mlir

namespace qm::sm80 {

/// On a module: scheduled attn.kernel for sm_80 and later -> llvm.func in the
/// LLVM and NVVM dialects. Kernels for other targets are left alone.
/// lowering/ptx/EmitPtx.h takes the result to PTX.
void buildSm80Pipeline(mlir::OpPassManager &manager);

/// qm-lower-to-sm80, and the pipeline qm-sm80-pipeline.
void registerSm80Passes();

} // namespace qm::sm80
