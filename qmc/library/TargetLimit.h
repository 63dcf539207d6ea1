//===- TargetLimit.h - what a target cannot have ----------------*- C++ -*-===//
//
// A library is the product of its specs, types, head dims and targets, and not
// every target can have every form: sm_75 knows no bf16. Such a pair is left
// out where another target has the kernel. Any other error is one.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "mlir/IR/Diagnostics.h"
#include "llvm/ADT/ArrayRef.h"

#include <string>

namespace qm::driver {

/// Listens to the compilation of a kernel for one target. Messages go on to the
/// handlers before it.
class TargetLimit {
public:
  /// `overrides`: --set. That no schedule fits is a limit of the target unless
  /// the user set a part of it.
  TargetLimit(mlir::MLIRContext *context,
              llvm::ArrayRef<std::string> overrides);

  /// The message, "QM0402: ...", if the only errors are of what the target
  /// cannot have; else "".
  std::string text() const { return otherErrors ? "" : limit; }

private:
  bool isLimit(llvm::StringRef message) const;

  bool scheduleIsChosen;
  std::string limit; ///< the first such message
  bool otherErrors = false;
  mlir::ScopedDiagnosticHandler handler;
};

} // namespace qm::driver
