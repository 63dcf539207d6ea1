//===- SpecForm.h - a spec for another type, head dim or head count -------===//
#pragma once

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Support/LLVM.h"

#include <optional>
#include <string>

namespace qm::driver {

/// What to change of a spec; what is absent stays as written.
struct SpecForm {
  std::string dtype; ///< of q, k, v and o: "bf16", "f16", "f32"; "" as written
  std::optional<int64_t> headDim;
  std::optional<std::pair<int64_t, int64_t>> heads; ///< query, key/value
};

/// Rewrites a spec-level function. The element type goes to q, k, v and o; the
/// head dim to all four, where value heads are as wide as the others; head
/// counts to them and the statistics. What the spec fixes otherwise is an error
/// at the user's line.
mlir::LogicalResult applyForm(mlir::func::FuncOp spec, const SpecForm &form);

} // namespace qm::driver
