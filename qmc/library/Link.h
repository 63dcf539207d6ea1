//===- Link.h - objects to a static and a shared library --------*- C++ -*-===//
#pragma once

#include "qmc/library/Contents.h"

namespace qm::driver {

/// The bytes of libNAME.a: `object` and the CPU code of every kernel.
mlir::FailureOr<std::string> makeArchive(const LibraryContents &library,
                                         llvm::StringRef object);

/// The bytes of libNAME.so: the archive and the runtime, which it exports.
/// Needs the host compiler to link and libqm_runtime.a.
mlir::FailureOr<std::string> linkShared(const Options &options,
                                        const LibraryContents &library,
                                        llvm::StringRef archive);

} // namespace qm::driver
