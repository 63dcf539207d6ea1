//===- SpecFunctions.h - the functions that can be evaluated ----*- C++ -*-===//
#pragma once

#include "qmc/Options.h"
#include "qmc/Session.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringRef.h"

namespace qm::driver {

/// The input's module and its functions at the spec level.
struct SpecFunctions {
  mlir::OwningOpRef<mlir::ModuleOp> module;
  llvm::SmallVector<mlir::func::FuncOp> functions;
};

/// Loads the input (loadSpecs). An error if none of it is at the spec level:
/// what `command` does needs the definition of the operator, which later levels
/// have lost.
mlir::FailureOr<SpecFunctions> loadSpecFunctions(Session &session,
                                                 const Options &options,
                                                 llvm::StringRef command);

} // namespace qm::driver
