//===- CompilePipeline.h - from specs to code -------------------*- C++ -*-===//
#pragma once

#include "lowering/common/KernelInfo.h"
#include "lowering/common/TargetInfo.h"
#include "passes/Pipelines.h"
#include "qmc/GpuCode.h"
#include "qmc/Options.h"
#include "qmc/Session.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"

namespace qm::driver {

/// Takes modules down the levels, with the printing and timing that the command
/// line asks for.
class CompilePipeline {
public:
  CompilePipeline(Session &session, const Options &options)
      : session(session), options(options) {}

  /// A copy of `module` taken from its level to `to`, for `target` (only its
  /// name matters before the scheduled level). An input below `to`, or one
  /// scheduled for another target, is an error.
  mlir::FailureOr<mlir::OwningOpRef<mlir::ModuleOp>>
  lowerTo(mlir::ModuleOp module, passes::Level to,
          const lowering::TargetInfo &target);

  /// Scheduled kernels of a CPU to the LLVM dialect, in place.
  mlir::LogicalResult lowerToCpu(mlir::ModuleOp scheduled);

  /// Scheduled kernels of an NVIDIA GPU to LLVM IR and PTX, and to a cubin on
  /// request. Leaves `scheduled` at the LLVM dialect.
  mlir::FailureOr<GpuCode> lowerToGpu(mlir::ModuleOp scheduled,
                                      const lowering::TargetInfo &target,
                                      bool wantCubin);

private:
  mlir::LogicalResult runPasses(mlir::PassManager &manager,
                                mlir::ModuleOp module, llvm::StringRef phase);
  /// Keeps an intermediate file if --save-temps asks for it.
  mlir::LogicalResult saveTemp(const lowering::TargetInfo &target,
                               llvm::StringRef suffix, llvm::StringRef bytes);

  Session &session;
  const Options &options;
};

/// The targets that --arch names; `defaults` if it is absent. Errors name the
/// known ones.
mlir::FailureOr<std::vector<const lowering::TargetInfo *>>
findTargets(const Options &options, llvm::ArrayRef<llvm::StringRef> defaults);

/// The launch contract of each kernel of a module at the tiled level or below.
std::vector<lowering::KernelInfo> getKernels(mlir::ModuleOp module);

} // namespace qm::driver
