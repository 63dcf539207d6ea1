//===- Session.h - context and diagnostics of one qmc run -------*- C++ -*-===//
#pragma once

#include "qmc/PhaseTimer.h"

#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/MLIRContext.h"
#include "llvm/Support/SourceMgr.h"
#include "llvm/Support/raw_ostream.h"

namespace qm::driver {

/// Owns what every step needs. Diagnostics go to stderr with the user's line
/// and a caret: the source manager knows the input, and opens other files (the
/// .cpp that a location names) by itself.
class Session {
public:
  /// Diagnostics go to `messages`.
  explicit Session(llvm::raw_ostream &messages = llvm::errs());

  mlir::MLIRContext context;
  llvm::SourceMgr sources;
  PhaseTimer timer;

private:
  mlir::SourceMgrDiagnosticHandler handler;
};

} // namespace qm::driver
