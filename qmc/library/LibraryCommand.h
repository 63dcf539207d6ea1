//===- LibraryCommand.h - qmc build --emit=lib ------------------*- C++ -*-===//
#pragma once

#include "qmc/Artifact.h"
#include "qmc/Options.h"
#include "qmc/Session.h"

namespace qm::driver {

/// Builds libNAME.a, libNAME.so (as `emits` asks), NAME.h and NAME.json from
/// the specs of every input.
mlir::LogicalResult
buildLibrary(Session &session, const Options &options,
             llvm::ArrayRef<Emit> emits,
             llvm::ArrayRef<const lowering::TargetInfo *> targets);

} // namespace qm::driver
