//===- BenchMasks.h - the masks that suites name ----------------*- C++ -*-===//
#pragma once

#include "qmc/BenchSuite.h"

namespace qm::driver {

/// "full, causal, window_1024, ..."
std::string benchMaskNames();
bool isBenchMask(llvm::StringRef name);

/// The spec of a cell, traced from the mask library, as text.
std::string benchSpecText(const BenchCell &cell);

} // namespace qm::driver
