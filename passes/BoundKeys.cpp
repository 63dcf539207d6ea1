// tiled -> tiled: a closed-form range of keys outside of which the mask keeps
// nothing, for masks that are affine in the key.
#include "passes/Passes.h"
#include "passes/RegionIntervals.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace qm;
using namespace qm::passes;
using arith::CmpIPredicate;

namespace qm::passes {
#define GEN_PASS_DEF_BOUNDKEYS
#include "passes/Passes.h.inc"
} // namespace qm::passes

namespace {

/// Keys that a predicate may keep: first <= j <= last. A bound that is missing
/// is no bound.
struct KeyRange {
  Value first, last;
};

/// An integer as `sign * floor(key / divisor) + sum of signed terms without the
/// key`; sign 0: the key does not occur.
struct Affine {
  int sign = 0;
  int64_t divisor = 1;
  SmallVector<std::pair<int, Value>> terms;
};

class Bounder {
public:
  Bounder(OpBuilder &builder, Location loc, attn::MaskOp mask, Value ilo,
          Value ihi)
      : b(builder), loc(loc), region(builder, loc),
        key(mask.getBody().front().getArgument(1)) {
    // The key runs over everything: only what does not depend on it is read
    // from these facts.
    Value zero = region.intervals.constant(0);
    Value most = region.intervals.constant(maxLength - 1);
    region.evaluate(mask, ilo, ihi, zero, most);
    findDependents(mask.getBody().front());
  }

  /// The range of `predicate`, or of its negation.
  KeyRange bound(Value predicate, bool negated = false) {
    if (!dependents.contains(predicate))
      return {};
    Operation *op = predicate.getDefiningOp();
    if (auto compare = dyn_cast<arith::CmpIOp>(op))
      return boundComparison(compare, negated);
    if (isa<arith::AndIOp, arith::OrIOp>(op)) {
      KeyRange x = bound(op->getOperand(0), negated);
      KeyRange y = bound(op->getOperand(1), negated);
      return isa<arith::AndIOp>(op) != negated ? intersect(x, y) : hull(x, y);
    }
    if (auto invert = dyn_cast<arith::XOrIOp>(op))
      for (auto [value, other] : {std::pair(invert.getLhs(), invert.getRhs()),
                                  std::pair(invert.getRhs(), invert.getLhs())})
        if (std::optional<int64_t> constant = getConstant(other))
          return bound(value, *constant != 0 ? !negated : negated);
    if (auto select = dyn_cast<arith::SelectOp>(op))
      return hull(bound(select.getTrueValue(), negated),
                  bound(select.getFalseValue(), negated));
    return {};
  }

private:
  void findDependents(Block &body) {
    dependents.insert(key);
    for (Operation &op : body.without_terminator())
      if (llvm::any_of(op.getOperands(), [&](Value operand) {
            return dependents.contains(operand);
          }))
        dependents.insert(op.getResult(0));
  }

  Value minimum(Value x, Value y) {
    return arith::MinSIOp::create(b, loc, x, y);
  }
  Value maximum(Value x, Value y) {
    return arith::MaxSIOp::create(b, loc, x, y);
  }

  KeyRange intersect(KeyRange x, KeyRange y) {
    auto both = [&](Value u, Value v, auto combine) {
      return u && v ? (this->*combine)(u, v) : u ? u : v;
    };
    return {both(x.first, y.first, &Bounder::maximum),
            both(x.last, y.last, &Bounder::minimum)};
  }
  /// Keys of either range. An empty range has first > last, so the hull of its
  /// bounds is no smaller than it must be.
  KeyRange hull(KeyRange x, KeyRange y) {
    KeyRange result;
    if (x.first && y.first)
      result.first = minimum(x.first, y.first);
    if (x.last && y.last)
      result.last = maximum(x.last, y.last);
    return result;
  }

  /// Takes `value` apart; nothing if the key occurs twice, scaled, or in
  /// arithmetic that could wrap.
  std::optional<Affine> decompose(Value value) {
    if (!dependents.contains(value))
      return Affine{0, 1, {{1, value}}};
    if (value == key)
      return Affine{1, 1, {}};
    Operation *op = value.getDefiningOp();
    if (auto divide = dyn_cast<arith::FloorDivSIOp>(op)) {
      std::optional<int64_t> divisor = getConstant(divide.getRhs());
      if (divide.getLhs() == key && divisor && *divisor > 0)
        return Affine{1, *divisor, {}};
      return std::nullopt;
    }
    bool subtracts = isa<arith::SubIOp>(op);
    if (!subtracts && !isa<arith::AddIOp>(op))
      return std::nullopt;
    Interval x = region.intervals.asRange(region.get(op->getOperand(0)));
    Interval y = region.intervals.asRange(region.get(op->getOperand(1)));
    int64_t least = subtracts ? x.smin - y.smax : x.smin + y.smin;
    int64_t most = subtracts ? x.smax - y.smin : x.smax + y.smax;
    if (least < INT32_MIN || most > INT32_MAX)
      return std::nullopt;
    return combine(decompose(op->getOperand(0)), decompose(op->getOperand(1)),
                   subtracts ? -1 : 1);
  }

  /// x + sign * y
  static std::optional<Affine> combine(std::optional<Affine> x,
                                       std::optional<Affine> y, int sign) {
    if (!x || !y || (x->sign != 0 && y->sign != 0))
      return std::nullopt;
    if (y->sign != 0)
      x->sign = sign * y->sign, x->divisor = y->divisor;
    for (auto [termSign, term] : y->terms)
      x->terms.push_back({sign * termSign, term});
    return x;
  }

  KeyRange boundComparison(arith::CmpIOp op, bool negated) {
    if (!op.getLhs().getType().isInteger(32))
      return {};
    // lhs - rhs compared with 0, as numbers without wrapping: no instruction
    // computes this difference.
    std::optional<Affine> difference =
        combine(decompose(op.getLhs()), decompose(op.getRhs()), -1);
    if (!difference || difference->sign == 0)
      return {};
    CmpIPredicate predicate =
        negated ? arith::invertPredicate(op.getPredicate()) : op.getPredicate();
    // With the key's sign positive: floor(key / d) compared with `limit`, a
    // range over the query rows.
    if (difference->sign < 0)
      predicate = swapped(predicate);
    Interval limit =
        region.intervals.makeExact(region.intervals.constant(0), 0, 0);
    for (auto [sign, term] : difference->terms) {
      Interval fact = region.get(term);
      limit = sign == difference->sign ? region.intervals.sub(limit, fact)
                                       : region.intervals.add(limit, fact);
    }
    limit = region.intervals.asRange(limit);
    switch (predicate) {
    case CmpIPredicate::slt:
      return {{}, lastKey(limit, difference->divisor, -1)};
    case CmpIPredicate::sle:
      return {{}, lastKey(limit, difference->divisor, 0)};
    case CmpIPredicate::sgt:
      return {firstKey(limit, difference->divisor, 1), {}};
    case CmpIPredicate::sge:
      return {firstKey(limit, difference->divisor, 0), {}};
    case CmpIPredicate::eq:
      return {firstKey(limit, difference->divisor, 0),
              lastKey(limit, difference->divisor, 0)};
    default:
      return {};
    }
  }

  static CmpIPredicate swapped(CmpIPredicate predicate) {
    switch (predicate) {
    case CmpIPredicate::slt:
      return CmpIPredicate::sgt;
    case CmpIPredicate::sle:
      return CmpIPredicate::sge;
    case CmpIPredicate::sgt:
      return CmpIPredicate::slt;
    case CmpIPredicate::sge:
      return CmpIPredicate::sle;
    default:
      return predicate;
    }
  }

  /// floor(key / d) <= n for the largest n, so key <= n d + d - 1.
  Value lastKey(Interval limit, int64_t divisor, int64_t offset) {
    return scaled(limit, divisor, offset, divisor - 1).hi;
  }
  /// floor(key / d) >= n for the smallest n, so key >= n d.
  Value firstKey(Interval limit, int64_t divisor, int64_t offset) {
    return scaled(limit, divisor, offset, 0).lo;
  }
  /// (limit + offset) * divisor + rest
  Interval scaled(Interval limit, int64_t divisor, int64_t offset,
                  int64_t rest) {
    auto exact = [&](int64_t value) {
      return region.intervals.makeExact(region.intervals.constant(value), value,
                                        value);
    };
    Interval result = region.intervals.add(limit, exact(offset));
    if (divisor != 1)
      result = region.intervals.mul(result, exact(divisor));
    return rest == 0 ? result : region.intervals.add(result, exact(rest));
  }

  OpBuilder &b;
  Location loc;
  RegionIntervals region;
  Value key;
  DenseSet<Value> dependents;
};

struct BoundKeys : qm::passes::impl::BoundKeysBase<BoundKeys> {
  void runOnOperation() override {
    attn::KeyBlocksOp loop = getOperation().getKeyBlocks();
    SmallVector<attn::MaskOp> masks(loop.getBody().getOps<attn::MaskOp>());
    if (masks.empty() || !loop.getBounds().empty())
      return;
    OpBuilder builder(&getContext());
    Location loc = loop.getLoc();
    Block *block = builder.createBlock(
        &loop.getBounds(), {}, SmallVector<Type>(2, builder.getI32Type()),
        SmallVector<Location>(2, loc));
    Value first, last;
    for (attn::MaskOp mask : masks) {
      Bounder bounder(builder, mask.getLoc(), mask, block->getArgument(0),
                      block->getArgument(1));
      KeyRange range =
          bounder.bound(mask.getBody().front().getTerminator()->getOperand(0));
      if (range.first)
        first = first ? arith::MaxSIOp::create(builder, loc, first, range.first)
                      : range.first;
      if (range.last)
        last = last ? arith::MinSIOp::create(builder, loc, last, range.last)
                    : range.last;
    }
    if (!first && !last) {
      loop.getBounds().front().erase();
      return;
    }
    IntervalBuilder intervals(builder, loc);
    first = first ? first : intervals.constant(0);
    last = last ? last : intervals.constant(maxLength - 1);
    attn::YieldOp::create(builder, loc, ValueRange{first, last});
    ++numBounded;
  }
};

} // namespace
