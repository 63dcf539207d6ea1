//===- MachineCode.h - LLVM dialect to optimised LLVM IR --------*- C++ -*-===//
//
// What JIT and object file share: the translation, LLVM's target machine and
// its optimisation pipeline.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "mlir/IR/BuiltinOps.h"
#include "llvm/IR/Module.h"
#include "llvm/Target/TargetMachine.h"

#include <memory>

namespace qm::cpu {

/// An optimised module with its context and the machine it was made for.
struct MachineModule {
  std::unique_ptr<llvm::LLVMContext> context;
  std::unique_ptr<llvm::Module> module;
  std::unique_ptr<llvm::TargetMachine> machine;
};

/// Translates the llvm.func of `module` (operations of other dialects are not
/// allowed) and optimises them at -O3 for the CPU each function names. Reports
/// an error if LLVM has no code generator for this machine.
mlir::FailureOr<MachineModule> makeMachineModule(mlir::ModuleOp module);

} // namespace qm::cpu
