//===- Pipeline.h - scheduled kernels to the LLVM dialect -------*- C++ -*-===//
#pragma once

namespace mlir {
class DialectRegistry;
class OpPassManager;
} // namespace mlir

namespace qm::cpu {

struct CpuPipelineOptions {
  /// Conversions of f16 in integer code: for targets without F16C.
  bool expandF16 = false;
};

/// On a module: scheduled attn.kernel for a CPU -> llvm.func. Kernels for other
/// targets are left alone.
void buildCpuPipeline(mlir::OpPassManager &manager,
                      const CpuPipelineOptions &options = {});

/// Dialects, interfaces and translations that the pipeline and what follows it
/// (Jit.h, ObjectFile.h) need.
void registerCpuDialects(mlir::DialectRegistry &registry);

/// qm-lower-to-cpu, qm-expand-cpu-math, and the pipeline qm-cpu-pipeline.
void registerCpuPasses();

} // namespace qm::cpu
