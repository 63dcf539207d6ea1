//===- ObjectFile.h - CPU kernels ahead of time -----------------*- C++ -*-===//
#pragma once

#include "mlir/IR/BuiltinOps.h"

#include <string>

namespace qm::cpu {

/// Bytes of a relocatable object with the kernels of a module that
/// buildCpuPipeline has lowered; position-independent, for the CPU levels that
/// the functions name. It may need the C math library. Errors are reported.
mlir::FailureOr<std::string> makeObjectFile(mlir::ModuleOp module);

/// The same as optimised LLVM IR, and as assembly.
mlir::FailureOr<std::string> makeLlvmIr(mlir::ModuleOp module);
mlir::FailureOr<std::string> makeAssembly(mlir::ModuleOp module);

} // namespace qm::cpu
