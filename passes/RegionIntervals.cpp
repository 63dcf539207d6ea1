// A mask region evaluated on intervals.
#include "passes/RegionIntervals.h"

#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace qm;
using namespace qm::passes;

std::optional<int64_t> qm::passes::getConstant(Value value) {
  IntegerAttr attr;
  if (matchPattern(value, m_Constant(&attr)))
    return attr.getInt();
  return std::nullopt;
}

Interval RegionIntervals::evaluate(attn::MaskOp mask, Value ilo, Value ihi,
                                   Value jlo, Value jhi) {
  Block &body = mask.getBody().front();
  facts[body.getArgument(0)] = intervals.makeRange(ilo, ihi, 0, maxLength - 1);
  facts[body.getArgument(1)] = intervals.makeRange(jlo, jhi, 0, maxLength - 1);
  for (Operation &op : body.without_terminator()) {
    facts[op.getResult(0)] = liftOperation(op);
    if (isStep(op))
      steps.insert(op.getResult(0));
  }
  return intervals.asPredicate(get(body.getTerminator()->getOperand(0)));
}

Interval RegionIntervals::get(Value value) {
  if (auto found = facts.find(value); found != facts.end())
    return found->second;
  // From outside the region: batch, head, a run-time scalar.
  return intervals.makeExact(value);
}

Interval RegionIntervals::liftOperation(Operation &op) {
  if (auto extent = dyn_cast<attn::ExtentOp>(op))
    return intervals.makeExact(builder.clone(op)->getResult(0), 0, maxLength);
  if (auto value = getConstant(op.getResult(0));
      value && op.getResult(0).getType().isInteger(32))
    return intervals.makeExact(builder.clone(op)->getResult(0), *value, *value);
  if (std::optional<Interval> exact = liftExact(op))
    return *exact;
  auto load = dyn_cast<attn::LoadOp>(op);
  Interval result = load ? liftLoad(load) : liftByRule(op);
  if (result.isUnknown())
    ++unknown;
  return result;
}

/// If every operand is one known value, so is the result: the operation
/// itself computes it, whatever it is. A division may have a divisor of zero
/// here as in the mask; GuardDivision sees to both.
std::optional<Interval> RegionIntervals::liftExact(Operation &op) {
  IRMapping mapping;
  for (Value operand : op.getOperands()) {
    if (isa<RankedTensorType>(operand.getType()))
      continue;
    Interval fact = get(operand);
    if (!fact.exact)
      return std::nullopt;
    mapping.map(operand, fact.exact);
  }
  Value value = builder.clone(op, mapping)->getResult(0);
  // Skv - Sq and the like: what is added to it needs no care for wrapping, and
  // can be solved for the key.
  if (isa<arith::AddIOp, arith::SubIOp>(op) && value.getType().isInteger(32)) {
    Interval x = get(op.getOperand(0)), y = get(op.getOperand(1));
    bool subtracts = isa<arith::SubIOp>(op);
    int64_t smin = x.smin + (subtracts ? -y.smax : y.smin);
    int64_t smax = x.smax + (subtracts ? -y.smin : y.smax);
    if (smin >= INT32_MIN && smax <= INT32_MAX)
      return intervals.makeExact(value, smin, smax);
  }
  return intervals.makeExact(value);
}

Interval RegionIntervals::liftByRule(Operation &op) {
  auto x = [&] { return get(op.getOperand(0)); };
  auto y = [&] { return get(op.getOperand(1)); };
  bool predicate = op.getResult(0).getType().isInteger(1);
  if (isa<arith::ExtSIOp, arith::ExtUIOp>(op))
    return liftExtension(op);
  if (auto compare = dyn_cast<arith::CmpIOp>(op))
    return liftComparison(compare);
  if (isa<arith::SelectOp>(op) &&
      (predicate || op.getResult(0).getType().isInteger(32)))
    return intervals.select(x(), y(), get(op.getOperand(2)));
  if (predicate) {
    if (isa<arith::AndIOp>(op))
      return intervals.logicalAnd(x(), y());
    if (isa<arith::OrIOp>(op))
      return intervals.logicalOr(x(), y());
    if (isa<arith::XOrIOp>(op))
      return intervals.logicalXor(x(), y());
    return {};
  }
  if (!op.getResult(0).getType().isInteger(32))
    return {};
  if (isa<arith::TruncIOp>(op)) // of an element of 64 bits
    return x();
  if (isa<arith::AddIOp>(op))
    return intervals.add(x(), y());
  if (auto sub = dyn_cast<arith::SubIOp>(op))
    return liftSubtraction(sub);
  if (isa<arith::MulIOp>(op))
    return intervals.mul(x(), y());
  if (isa<arith::MinSIOp>(op))
    return intervals.min(x(), y());
  if (isa<arith::MaxSIOp>(op))
    return intervals.max(x(), y());
  if (isa<math::AbsIOp>(op))
    return liftAbsolute(x());
  return liftWithConstant(op);
}

/// Operations whose second operand must be a constant for a rule to hold.
Interval RegionIntervals::liftWithConstant(Operation &op) {
  if (op.getNumOperands() != 2)
    return {};
  std::optional<int64_t> c = getConstant(op.getOperand(1));
  Interval x = get(op.getOperand(0));
  if (isa<arith::AndIOp>(op)) {
    if (!c) // and, or, xor commute
      c = getConstant(op.getOperand(0)), x = get(op.getOperand(1));
    if (c && *c >= 0) // the low bits of two's complement are floor modulo
      return ((*c + 1) & *c) == 0 && *c < INT32_MAX
                 ? intervals.floorMod(x, *c + 1)
                 : intervals.makeBetween(0, *c);
    return {};
  }
  if (!c)
    return {};
  if (isa<arith::ShRSIOp>(op) && *c >= 0 && *c < 32)
    return intervals.shiftRight(x, *c);
  if (isa<arith::ShLIOp>(op) && *c >= 0 && *c < 31) {
    Value factor = intervals.constant(int64_t(1) << *c);
    return intervals.mul(
        x, intervals.makeExact(factor, int64_t(1) << *c, int64_t(1) << *c));
  }
  if (*c <= 0)
    return {};
  if (isa<arith::FloorDivSIOp>(op))
    return intervals.floorDiv(x, *c);
  if (isa<arith::DivSIOp>(op))
    return intervals.truncDiv(x, *c);
  if (isa<arith::CeilDivSIOp>(op))
    return intervals.ceilDiv(x, *c);
  bool nonNegative = !x.isUnknown() && x.smin >= 0;
  if (isa<arith::DivUIOp>(op) && nonNegative)
    return intervals.floorDiv(x, *c);
  if (isa<arith::RemSIOp>(op))
    return nonNegative ? intervals.floorMod(x, *c)
                       : intervals.makeBetween(1 - *c, *c - 1);
  if (isa<arith::RemUIOp>(op) && nonNegative)
    return intervals.floorMod(x, *c);
  return {};
}

/// a - floordiv(a, c) * c is how floor modulo is written; as a difference of
/// ranges it would lose everything.
Interval RegionIntervals::liftSubtraction(arith::SubIOp op) {
  auto product = op.getRhs().getDefiningOp<arith::MulIOp>();
  auto quotient = product
                      ? product.getLhs().getDefiningOp<arith::FloorDivSIOp>()
                      : arith::FloorDivSIOp();
  if (quotient && quotient.getLhs() == op.getLhs()) {
    std::optional<int64_t> divisor = getConstant(quotient.getRhs());
    if (divisor && *divisor > 0 && divisor == getConstant(product.getRhs()))
      return intervals.floorMod(get(op.getLhs()), *divisor);
  }
  return intervals.sub(get(op.getLhs()), get(op.getRhs()));
}

/// |x| = max(x, -x) has its minimum inside, at 0, where the range crosses it.
Interval RegionIntervals::liftAbsolute(Interval x) {
  Interval range = intervals.asRange(x);
  if (range.smin == INT32_MIN) // |INT_MIN| wraps to itself
    return {};
  Interval zero = intervals.makeExact(intervals.constant(0), 0, 0);
  Interval magnitude = intervals.max(range, intervals.sub(zero, range));
  return intervals.max(magnitude, zero);
}

Interval RegionIntervals::liftComparison(arith::CmpIOp op) {
  unsigned width = op.getLhs().getType().getIntOrFloatBitWidth();
  if (width == 32 || width == 16 || width == 8)
    return intervals.compare(op.getPredicate(), get(op.getLhs()),
                             get(op.getRhs()));
  if (!op.getLhs().getType().isInteger(1))
    return {};
  Interval differ = intervals.logicalXor(get(op.getLhs()), get(op.getRhs()));
  if (op.getPredicate() == arith::CmpIPredicate::ne)
    return differ;
  if (op.getPredicate() == arith::CmpIPredicate::eq)
    return intervals.makePredicate(differ.canFalse, differ.canTrue);
  return {};
}

/// A narrower integer that is not known still has its type's range.
Interval RegionIntervals::liftExtension(Operation &op) {
  if (!op.getResult(0).getType().isInteger(32))
    return {};
  unsigned width = op.getOperand(0).getType().getIntOrFloatBitWidth();
  bool isSigned = isa<arith::ExtSIOp>(op);
  Interval x = get(op.getOperand(0));
  if (width == 1 && x.canTrue) {
    Interval whenTrue =
        intervals.makeExact(intervals.constant(isSigned ? -1 : 1),
                            isSigned ? -1 : 1, isSigned ? -1 : 1);
    Interval whenFalse = intervals.makeExact(intervals.constant(0), 0, 0);
    return intervals.select(x, whenTrue, whenFalse);
  }
  if (x.lo && width <= 16 && (isSigned || x.smin >= 0))
    return x;
  int64_t half = int64_t(1) << (width - 1);
  return isSigned ? intervals.makeBetween(-half, half - 1)
                  : intervals.makeBetween(0, 2 * half - 1);
}
