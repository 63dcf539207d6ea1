//===- Pipeline.h - scheduled kernels to the LLVM dialect -------*- C++ -*-===//
#pragma once

namespace mlir {
class DialectRegistry;
class OpPassManager;
} // namespace mlir

namespace qm::cpu {

/// On a module: scheduled attn.kernel for a CPU -> llvm.func. Kernels for other
/// targets are left alone.
void buildCpuPipeline(mlir::OpPassManager &manager);

/// Dialects, interfaces and translations that the pipeline and what follows it
/// (Jit.h, ObjectFile.h) need.
void registerCpuDialects(mlir::DialectRegistry &registry);

/// qm-lower-to-cpu, qm-expand-cpu-math, and the pipeline qm-cpu-pipeline.
void registerCpuPasses();

} // namespace qm::cpu
