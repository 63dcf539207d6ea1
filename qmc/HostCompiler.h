//===- HostCompiler.h - a .cpp spec becomes a shared object -----*- C++ -*-===//
#pragma once

#include "qmc/Options.h"

#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringRef.h"

namespace qm::driver {

/// Compiles `source` against the front end into the shared object `output`.
/// The compiler's own messages go to stderr unchanged. `depfile`, if not empty,
/// gets the list of files that were read, in make's form.
mlir::LogicalResult compileSpec(const Options &options, llvm::StringRef source,
                                llvm::StringRef output,
                                llvm::StringRef depfile = "");

/// --cxx, QM_CXX, then what is on PATH.
mlir::FailureOr<std::string> findHostCompiler(const Options &options);

/// Identifies the compiler and the front end for a cache: places, sizes and
/// times of change.
std::string hostCompilerIdentity(const Options &options);

/// Adds the flag that makes `command`'s compiler link with lld, if both are
/// LLVM's.
void addLinker(llvm::SmallVectorImpl<std::string> &command);

/// What a shared library of kernels is linked with.
struct RuntimeLibraries {
  std::string runtime, zstd;
};
mlir::FailureOr<RuntimeLibraries> findRuntimeLibraries();

} // namespace qm::driver
