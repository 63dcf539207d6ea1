//===- BenchScores.h - the score functions that suites name -----*- C++ -*-===//
#pragma once

#include "llvm/ADT/StringRef.h"

#include <string>

namespace qm {
class Spec;
}

namespace qm::driver {

/// "softcap_30, alibi, ..."
std::string benchScoreNames();
bool isBenchScore(llvm::StringRef name);

/// Gives the spec that score function, with the buffers it reads.
void describeBenchScore(llvm::StringRef name, Spec &spec);

} // namespace qm::driver
