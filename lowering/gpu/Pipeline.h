// What the pipelines of all NVIDIA targets share: qm-expand-gpu-math before a
// target's own pass, and the conversions behind it.
#pragma once

namespace mlir {
class DialectRegistry;
class OpPassManager;
} // namespace mlir

namespace qm::gpu {

/// On a module: functions in the NVVM dialect lose scf, math, arith and cf.
/// lowering/ptx/EmitPtx.h takes the result to PTX.
void addConversionsToLlvm(mlir::OpPassManager &manager);

/// Dialects and translations that the pipelines and EmitPtx need.
void registerGpuDialects(mlir::DialectRegistry &registry);

/// qm-expand-gpu-math.
void registerGpuPasses();

} // namespace qm::gpu
