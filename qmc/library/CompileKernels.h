//===- CompileKernels.h - every kernel of a library for every target ------===//
#pragma once

#include "qmc/library/Contents.h"

namespace qm::driver {

/// Compiles, in parallel, the kernels that `library.operators` name; fills its
/// jobs and what was left out. Messages come in the order of the kernels.
mlir::LogicalResult
compileKernels(Session &session, const Options &options,
               llvm::ArrayRef<const lowering::TargetInfo *> targets,
               Cache &cache, LibraryContents &library);

} // namespace qm::driver
