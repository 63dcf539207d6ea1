//===- SpecFunctions.h - the functions that can be evaluated ----*- C++ -*-===//
#pragma once

#include "qmc/Options.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"

namespace qm::driver {

/// The spec-level functions of `module`. Without one, an error: what `command`
/// does needs the definition of the operator, which later levels have lost.
mlir::FailureOr<llvm::SmallVector<mlir::func::FuncOp>>
getSpecFunctions(mlir::ModuleOp module, const Options &options,
                 llvm::StringRef command);

} // namespace qm::driver
