//===- KernelRequest.h - the kernels a library is to have -------*- C++ -*-===//
//
// A spec times element types, head dims, head counts and kinds of call: one
// request each, with the spec rewritten to say so.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "qmc/Options.h"
#include "qmc/library/SpecTexts.h"

#include "lowering/common/TargetInfo.h"

#include "mlir/Support/LLVM.h"
#include "llvm/Support/JSON.h"

#include <optional>
#include <string>
#include <vector>

namespace qm::driver {

struct KernelRequest {
  std::string operatorName; ///< the spec's name
  std::string name;         ///< "gemma2_bf16_d64"
  std::string text;         ///< the spec as MLIR, with the user's locations
  std::string identity;     ///< the same without locations and name: for hashes
  std::string source;       ///< "gemma2.cpp:12", or ""
  std::vector<std::string> overrides; ///< --set
  /// Of its kind of call: "schedule.tile_m=64", or "sm_80/schedule.tile_m=64".
  std::vector<std::string> settings;
  llvm::json::Object when; ///< the manifest's

  /// Settings that name targets say that the kernel is for these alone.
  bool isFor(llvm::StringRef target) const;
  /// --set and the settings for a target.
  std::vector<std::string> overridesFor(llvm::StringRef target) const;
};

/// What --dtype, --head-dim, --heads and --variant ask for of each spec, in
/// that order. A spec that cannot be had in a form is an error at the user's
/// line.
mlir::FailureOr<std::vector<KernelRequest>>
requestKernels(Session &session, const Options &options,
               llvm::ArrayRef<const lowering::TargetInfo *> targets,
               llvm::ArrayRef<SpecText> specs);

} // namespace qm::driver
