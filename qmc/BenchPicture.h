//===- BenchPicture.h - measured cells as bars ------------------*- C++ -*-===//
#pragma once

#include "mlir/Support/LLVM.h"
#include "llvm/Support/JSON.h"

#include <string>

namespace qm::driver {

/// An SVG of rows of the form of test/perf/results: for each cell a bar for
/// ours and one for each peer, longer is faster. Fails, without a message, on a
/// row without a cell or a figure.
mlir::FailureOr<std::string> makeBenchPicture(const llvm::json::Array &rows);

} // namespace qm::driver
