//===- SpecLibrary.h - the specs in a shared object -------------*- C++ -*-===//
#pragma once

#include "mlir/IR/MLIRContext.h"
#include "mlir/Support/LLVM.h"

#include <string>
#include <vector>

namespace qm::driver {

/// A loaded shared object that speaks <qm/spec_abi.h>.
class SpecLibrary {
public:
  static mlir::FailureOr<SpecLibrary> open(llvm::StringRef path);
  SpecLibrary(SpecLibrary &&other);
  ~SpecLibrary();

  /// In the order of definition.
  std::vector<std::string> names() const;

  /// Traces spec `index`: its MLIR text, or its diagnostics at the user's
  /// lines.
  mlir::FailureOr<std::string> trace(int index, mlir::MLIRContext &context);

private:
  struct Functions;
  explicit SpecLibrary(void *handle);
  void *handle;
  std::unique_ptr<Functions> functions;
};

} // namespace qm::driver
