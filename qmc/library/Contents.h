//===- Contents.h - what a library is made of -------------------*- C++ -*-===//
#pragma once

#include "qmc/library/KernelJob.h"

#include <memory>
#include <string>
#include <vector>

namespace qm::driver {

/// The kernels of one spec; every one has the same arguments but for types and
/// extents.
struct LibraryOperator {
  std::string name;
  std::vector<const KernelRequest *> kernels; ///< in the order they are tried
};

/// A kernel that one target cannot have, and others can.
struct LeftOut {
  const KernelRequest *request;
  llvm::StringRef target;
  std::string reason; ///< "QM0402: ..."
};

struct LibraryContents {
  std::string name; ///< "attn": a C identifier, the prefix of its symbols
  std::vector<LibraryOperator> operators;
  std::vector<std::unique_ptr<KernelJob>> jobs; ///< done; by request, target
  std::vector<LeftOut> leftOut;
  std::string ptxasVersion; ///< "" if none was used

  /// The jobs of a kernel, one a target.
  std::vector<const KernelJob *> jobsOf(const KernelRequest &request) const;
  /// "args" of the manifest's entry of a job.
  static const llvm::json::Array &argumentsOf(const KernelJob &job);
};

/// The manifest, as runtime/README.md has it.
std::string makeLibraryManifest(const LibraryContents &library);

/// NAME.h: a function a spec, for C99, with a C++ wrapper.
std::string makeLibraryHeader(const LibraryContents &library);

/// An object file with the package, the table of CPU code and the functions of
/// NAME.h.
mlir::FailureOr<std::string> makeLibraryObject(const LibraryContents &library,
                                               llvm::StringRef package);

} // namespace qm::driver
