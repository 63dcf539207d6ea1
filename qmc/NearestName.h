//===- NearestName.h - "did you mean" ---------------------------*- C++ -*-===//
#pragma once

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"

#include <string>

namespace qm::driver {

/// The candidate with the smallest edit distance to `name`, or "" if none is
/// closer than replacing half of it. A candidate that begins with `name` is the
/// nearest.
std::string nearestName(llvm::StringRef name,
                        llvm::ArrayRef<std::string> candidates);

} // namespace qm::driver
