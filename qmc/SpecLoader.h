//===- SpecLoader.h - the input as a module ---------------------*- C++ -*-===//
#pragma once

#include "qmc/Options.h"
#include "qmc/Session.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"

namespace qm::driver {

/// Reads the input (a .cpp spec, a .mlir file or standard input) into one
/// module that holds the chosen specs: functions, or kernels if the file is at
/// a later level. Every error is reported. `dependencies` gets the headers that
/// a .cpp includes.
mlir::FailureOr<mlir::OwningOpRef<mlir::ModuleOp>>
loadSpecs(Session &session, const Options &options,
          std::vector<std::string> *dependencies = nullptr);

/// Whether an input is compiled by the host compiler: .cpp, .cc or .cxx.
bool isCppSpec(llvm::StringRef path);

/// Prints the names of the input's specs, one a line.
mlir::LogicalResult listSpecs(Session &session, const Options &options);

} // namespace qm::driver
