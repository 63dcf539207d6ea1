// Scheduled kernels to the LLVM and NVVM dialects.
#pragma once

namespace mlir {
class OpPassManager;
} // namespace mlir

namespace qm::sm75 {

/// On a module: scheduled attn.kernel for sm_75 -> llvm.func in the LLVM and
/// NVVM dialects. Kernels for other targets are left alone.
/// lowering/ptx/EmitPtx.h takes the result to PTX.
void buildSm75Pipeline(mlir::OpPassManager &manager);

/// qm-lower-to-sm75, and the pipeline qm-sm75-pipeline.
void registerSm75Passes();

} // namespace qm::sm75
