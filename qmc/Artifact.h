//===- Artifact.h - the outputs that --emit names ---------------*- C++ -*-===//
#pragma once

#include "passes/Pipelines.h"

#include "lowering/common/TargetInfo.h"

#include <string>
#include <vector>

namespace qm::driver {

/// An output of `qmc build`: a level of the IR, or code for a target.
enum class Emit {
  Spec,
  Online,
  Tiled,
  Fused,
  Typed,
  Scheduled,
  Llvm,
  Ptx,
  Cubin,
  Obj,
  Json,
  // A library: static and shared, or one of them; each with header and
  // manifest.
  Lib,
  Archive,
  Shared
};

std::optional<Emit> parseEmit(llvm::StringRef name);
llvm::StringRef getEmitName(Emit emit);
std::vector<std::string> emitNames();

/// The level an output prints, or nothing for code and manifest.
std::optional<passes::Level> getLevel(Emit emit);
/// Whether there is one output a target rather than one for all.
bool isPerTarget(Emit emit);
bool fits(Emit emit, lowering::TargetKind kind);
bool isLibrary(Emit emit);

/// One finished output, in memory until all have succeeded.
struct Artifact {
  Emit emit;
  std::string target; ///< "" if it is the same for all
  std::string bytes;

  /// "sm_80.cubin", "tiled.mlir", "json": what follows the stem and a dot.
  std::string suffix() const;
};

} // namespace qm::driver
