//===- CompileForGpu.h - from specs to machine code of a GPU ----*- C++ -*-===//
#pragma once

#include "qmc/CompilePipeline.h"

namespace qm::driver {

/// What a module becomes for one NVIDIA target.
struct GpuModule {
  mlir::OwningOpRef<mlir::ModuleOp> scheduled; ///< the scheduled level
  GpuCode code;
};

/// Takes a module to code for a GPU, machine code if `wantCubin`.
///
/// A schedule is chosen before ptxas says how many registers a score or mask
/// function takes. Where a kernel spills a kilobyte and nobody has set the size
/// of its key blocks, blocks of half as many keys are tried, and again, as long
/// as that helps. Notes say what was done, and which kernels still spill.
mlir::FailureOr<GpuModule>
compileForGpu(Session &session, const Options &options, mlir::ModuleOp module,
              const lowering::TargetInfo &target, bool wantCubin);

} // namespace qm::driver
