// Scheduled kernels to the LLVM and NVVM dialects.
#pragma once

namespace mlir {
class OpPassManager;
} // namespace mlir

namespace qm::sm90 {

/// On a module: scheduled attn.kernel for sm_90a -> llvm.func in the LLVM and
/// NVVM dialects. Kernels for other targets are left alone.
/// lowering/ptx/EmitPtx.h takes the result to PTX.
void buildSm90Pipeline(mlir::OpPassManager &manager);

/// qm-lower-to-sm90, and the pipeline qm-sm90-pipeline.
void registerSm90Passes();

} // namespace qm::sm90
