//===- TempFolder.h - a folder that goes away -------------------*- C++ -*-===//
#pragma once

#include "mlir/Support/LLVM.h"

#include <string>

namespace qm::driver {

/// A fresh folder under the system's temporary folder, removed with all it
/// holds when this goes out of scope.
class TempFolder {
public:
  static mlir::FailureOr<TempFolder> create();
  std::string file(llvm::StringRef name) const;

  TempFolder(TempFolder &&other) : path(std::move(other.path)) {
    other.path.clear();
  }
  ~TempFolder();

private:
  explicit TempFolder(std::string path) : path(std::move(path)) {}
  std::string path;
};

} // namespace qm::driver
