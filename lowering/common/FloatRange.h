// What the floats of an element-wise region can be: a range for each f32, by
// rules for the operations with a known one. tanh and clamps bound a score
// whatever the products are.
#pragma once

#include "mlir/IR/Block.h"

#include "llvm/ADT/DenseMap.h"

#include <cmath>
#include <limits>

namespace qm::lowering {

/// Every value that is not NaN lies in [low, high].
struct FloatRange {
  double low = -std::numeric_limits<double>::infinity();
  double high = std::numeric_limits<double>::infinity();

  bool isFinite() const { return std::isfinite(low) && std::isfinite(high); }
  /// The largest magnitude.
  double bound() const { return std::max(std::abs(low), std::abs(high)); }
};

class FloatRanges {
public:
  /// Follows the operations of `body` in order.
  explicit FloatRanges(mlir::Block &body);

  /// The whole line for what no rule covers.
  FloatRange of(mlir::Value value) const { return ranges.lookup(value); }

private:
  llvm::DenseMap<mlir::Value, FloatRange> ranges;
};

} // namespace qm::lowering
