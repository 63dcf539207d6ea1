//===- Version.h - versions of qmc and what it stands on --------*- C++ -*-===//
#pragma once

#include "llvm/Support/raw_ostream.h"

#include <string>

namespace qm::driver {

/// Project, LLVM and ptxas versions, one a line.
void printVersion(llvm::raw_ostream &os);

/// Place and version of the ptxas that --ptxas (or the search) names, for a
/// cache; "" if there is none. `version` is "13.0.88".
std::string ptxasIdentity(llvm::StringRef explicitPath, std::string &version);

} // namespace qm::driver
