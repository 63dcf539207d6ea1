//===- SpecTexts.h - the specs of several files as text ---------*- C++ -*-===//
#pragma once

#include "qmc/Options.h"
#include "qmc/Session.h"
#include "qmc/library/Cache.h"

#include <string>
#include <vector>

namespace qm::driver {

/// One spec as MLIR with locations: it can go to another thread's context, and
/// into the cache.
struct SpecText {
  std::string name, text;
};

struct SpecTexts {
  std::vector<SpecText> specs;
  std::vector<std::string> dependencies; ///< every file that was read
};

/// Reads the specs of every input. Those of a .cpp come from the cache if
/// neither it, nor a header it includes, nor the compiler has changed.
mlir::FailureOr<SpecTexts> readSpecTexts(Session &session,
                                         const Options &options, Cache &cache);

} // namespace qm::driver
