//===- Version.h - versions of qmc and what it stands on --------*- C++ -*-===//
#pragma once

#include "llvm/Support/raw_ostream.h"

namespace qm::driver {

/// Project, LLVM and ptxas versions, one a line.
void printVersion(llvm::raw_ostream &os);

} // namespace qm::driver
