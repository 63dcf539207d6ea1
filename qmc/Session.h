//===- Session.h - context and diagnostics of one qmc run -------*- C++ -*-===//
#pragma once

#include "qmc/PhaseTimer.h"

#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/MLIRContext.h"
#include "llvm/Support/SourceMgr.h"

namespace qm::driver {

/// Owns what every step needs. Diagnostics go to stderr with the user's line
/// and a caret: the source manager knows the input, and opens other files (the
/// .cpp that a location names) by itself.
class Session {
public:
  Session();

  mlir::MLIRContext context;
  llvm::SourceMgr sources;
  PhaseTimer timer;

private:
  mlir::SourceMgrDiagnosticHandler handler;
};

} // namespace qm::driver
