//===- HostCompiler.h - a .cpp spec becomes a shared object -----*- C++ -*-===//
#pragma once

#include "qmc/Options.h"

namespace qm::driver {

/// Compiles `source` against the front end into the shared object `output`.
/// The compiler's own messages go to stderr unchanged.
mlir::LogicalResult compileSpec(const Options &options, llvm::StringRef source,
                                llvm::StringRef output);

} // namespace qm::driver
