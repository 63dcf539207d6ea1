// Ranges of floats, one rule an operation.
#include "lowering/common/FloatRange.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/Matchers.h"

#include "llvm/ADT/STLExtras.h"

using namespace mlir;
using namespace qm::lowering;

/// What f32 operations and the machine's functions may add to a result,
/// relative to it: far more than a few units in the last place.
static constexpr double slack = 0x1p-18;

static FloatRange widened(FloatRange range) {
  return {range.low - std::abs(range.low) * slack,
          range.high + std::abs(range.high) * slack};
}

/// The range of a monotone function.
template <class Function>
static FloatRange mapped(FloatRange x, Function function) {
  return {function(x.low), function(x.high)};
}

/// The range of a function of two operands that is extreme at their ends;
/// unknown where an end is (inf - inf, 0 inf).
template <class Function>
static FloatRange combined(FloatRange x, FloatRange y, Function function) {
  double ends[] = {function(x.low, y.low), function(x.low, y.high),
                   function(x.high, y.low), function(x.high, y.high)};
  if (llvm::any_of(ends, [](double end) { return std::isnan(end); }))
    return {};
  return {*llvm::min_element(ends), *llvm::max_element(ends)};
}

static FloatRange rangeOf(Operation &op, ArrayRef<FloatRange> x) {
  FloatAttr constant;
  if (matchPattern(&op, m_Constant(&constant))) {
    double value = constant.getValueAsDouble();
    return std::isnan(value) ? FloatRange() : FloatRange{value, value};
  }
  if (isa<math::TanhOp>(op))
    return mapped(x[0], [](double v) { return std::tanh(v); });
  if (isa<math::ErfOp>(op))
    return mapped(x[0], [](double v) { return std::erf(v); });
  if (isa<math::SinOp, math::CosOp>(op))
    return {-1, 1};
  if (isa<math::Exp2Op>(op))
    return mapped(x[0], [](double v) { return std::exp2(v); });
  if (isa<math::ExpOp>(op))
    return mapped(x[0], [](double v) { return std::exp(v); });
  if (isa<arith::NegFOp>(op))
    return {-x[0].high, -x[0].low};
  if (isa<math::AbsFOp>(op))
    return {std::max({0.0, x[0].low, -x[0].high}), x[0].bound()};
  if (isa<arith::AddFOp>(op))
    return combined(x[0], x[1], std::plus<double>());
  if (isa<arith::SubFOp>(op))
    return combined(x[0], x[1], std::minus<double>());
  if (isa<arith::MulFOp>(op))
    return combined(x[0], x[1], std::multiplies<double>());
  if (isa<arith::DivFOp>(op) && (x[1].low > 0 || x[1].high < 0))
    return combined(x[0], x[1], std::divides<double>());
  if (isa<arith::SelectOp>(op))
    return {std::min(x[1].low, x[2].low), std::max(x[1].high, x[2].high)};
  // Beside NaN these yield the other operand, whichever it is.
  if (isa<arith::MinNumFOp, arith::MaxNumFOp>(op))
    return {std::min(x[0].low, x[1].low), std::max(x[0].high, x[1].high)};
  if (isa<arith::MinimumFOp>(op))
    return {std::min(x[0].low, x[1].low), std::min(x[0].high, x[1].high)};
  if (isa<arith::MaximumFOp>(op))
    return {std::max(x[0].low, x[1].low), std::max(x[0].high, x[1].high)};
  return {};
}

FloatRanges::FloatRanges(Block &body) {
  for (Operation &op : body.without_terminator()) {
    if (op.getNumResults() != 1 || !op.getResult(0).getType().isF32())
      continue;
    SmallVector<FloatRange> operands;
    for (Value operand : op.getOperands())
      operands.push_back(operand.getType().isF32() ? of(operand)
                                                   : FloatRange());
    FloatRange range = rangeOf(op, operands);
    ranges[op.getResult(0)] =
        op.hasTrait<OpTrait::ConstantLike>() ? range : widened(range);
  }
}
