//===- CpuKernel.h - a compiled kernel that runs here -----------*- C++ -*-===//
#pragma once

#include "lowering/common/KernelInfo.h"
#include "lowering/cpu/Jit.h"
#include "lowering/reference/HostTensor.h"
#include "qmc/CompilePipeline.h"

namespace qm::driver {

/// Arguments packed as the launch contract says (lowering/README.md).
std::vector<int64_t> packSlots(llvm::ArrayRef<reference::Argument> arguments);

/// A module's kernels compiled for this machine.
class CpuKernels {
public:
  /// Compiles the specs of `module` for `target`, a CPU.
  static mlir::FailureOr<CpuKernels>
  compile(CompilePipeline &pipeline, Session &session, mlir::ModuleOp module,
          const lowering::TargetInfo &target);

  const lowering::KernelInfo *find(llvm::StringRef name) const;

  /// Runs kernel `name`; `arguments` are those of the contract, outputs last.
  /// `threads` = 0: all cores.
  void run(llvm::StringRef name, llvm::ArrayRef<reference::Argument> arguments,
           unsigned threads) const;

private:
  CpuKernels(cpu::Jit jit, std::vector<lowering::KernelInfo> kernels)
      : jit(std::move(jit)), kernels(std::move(kernels)) {}
  cpu::Jit jit;
  std::vector<lowering::KernelInfo> kernels;
};

} // namespace qm::driver
