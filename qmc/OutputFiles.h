//===- OutputFiles.h - all outputs or none ----------------------*- C++ -*-===//
#pragma once

#include "mlir/Support/LLVM.h"

#include <string>
#include <vector>

namespace qm::driver {

/// Files that appear together: each is written beside its destination under a
/// temporary name, and all are renamed by `commit`. Without it, nothing stays.
/// A device or a pipe (/dev/null) is written to, by `commit`, never replaced.
class OutputFiles {
public:
  OutputFiles() = default;
  OutputFiles(const OutputFiles &) = delete;
  ~OutputFiles();

  /// Writes `bytes`, to become `path`. Missing folders are made.
  mlir::LogicalResult add(llvm::StringRef path, llvm::StringRef bytes);
  mlir::LogicalResult commit();

private:
  void forget();

  struct Pending {
    std::string temporary, path;
    std::string bytes; ///< for what is no regular file
  };
  std::vector<Pending> pending;
  std::vector<std::string> madeFolders;
};

} // namespace qm::driver
