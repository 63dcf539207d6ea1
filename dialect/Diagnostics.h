// Diagnostics with a code, on MLIR's engine. The source manager prints the
// user's line and a caret.
#pragma once

#include "dialect/DiagnosticIds.h"

#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/Operation.h"

namespace qm::diag {

/// Starts an error: `return diag::error(op, Id::HeadsNotDivisible) << "30 query
/// heads ...";`
inline mlir::InFlightDiagnostic error(mlir::Location loc, Id id) {
  return mlir::emitError(loc) << code(id) << ": ";
}
inline mlir::InFlightDiagnostic error(mlir::Operation *op, Id id) {
  return error(op->getLoc(), id);
}
inline mlir::InFlightDiagnostic warning(mlir::Location loc, Id id) {
  return mlir::emitWarning(loc) << code(id) << ": ";
}

/// Adds the way out: a note that begins with "help: ". One a diagnostic.
inline mlir::InFlightDiagnostic help(mlir::InFlightDiagnostic diagnostic,
                                     const llvm::Twine &text) {
  diagnostic.attachNote() << "help: " << text;
  return diagnostic;
}

} // namespace qm::diag
