// tiled -> tiled: a closed-form range of keys outside of which the mask keeps
// nothing, for masks that can be solved for the key.
#include "lowering/common/SwapSides.h"
#include "passes/Passes.h"
#include "passes/RegionIntervals.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"

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

enum class Side { AtLeast, AtMost };

/// A condition that is used in many places would be solved in each: beyond so
/// many steps there is no bound.
constexpr unsigned maxSteps = 2048;

class Bounder {
public:
  Bounder(OpBuilder &builder, Location loc, attn::MaskOp mask, Value ilo,
          Value ihi)
      : b(builder), loc(loc), region(builder, loc), intervals(region.intervals),
        key(mask.getBody().front().getArgument(1)) {
    // The key runs over everything: only what does not depend on it, and static
    // bounds, are read from these facts.
    Value zero = intervals.constant(0);
    Value most = intervals.constant(maxLength - 1);
    findDependents(mask.getBody().front());
    region.leaveUnread(&dependents);
    region.evaluate(mask, ilo, ihi, zero, most);
  }

  /// The range of `predicate`, or of its negation.
  KeyRange bound(Value predicate, bool negated = false) {
    if (!dependents.contains(predicate))
      return boundUniform(predicate, negated);
    if (++steps > maxSteps)
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
    if (auto select = dyn_cast<arith::SelectOp>(op)) {
      // One after the other: the order in which a call's arguments are made is
      // the compiler's choice, and the code that is emitted should not be.
      KeyRange holds = bound(select.getCondition(), false);
      KeyRange chosen = intersect(holds, bound(select.getTrueValue(), negated));
      KeyRange fails = bound(select.getCondition(), true);
      KeyRange other = intersect(fails, bound(select.getFalseValue(), negated));
      return hull(chosen, other);
    }
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

  /// A predicate that the key has no part in: all keys, or none where it holds
  /// for no row of the tile.
  KeyRange boundUniform(Value predicate, bool negated) {
    Interval fact = intervals.asPredicate(region.get(predicate));
    Value possible = negated ? fact.canFalse : fact.canTrue;
    if (std::optional<int64_t> constant = getConstant(possible);
        constant && *constant != 0)
      return {};
    auto choose = [&](int64_t all, int64_t none) -> Value {
      return arith::SelectOp::create(b, loc, possible, intervals.constant(all),
                                     intervals.constant(none));
    };
    return {choose(0, maxLength), choose(maxLength - 1, -1)};
  }

  KeyRange boundComparison(arith::CmpIOp op, bool negated) {
    Value value = op.getLhs(), other = op.getRhs();
    if (!value.getType().isInteger(32))
      return {};
    CmpIPredicate predicate =
        negated ? arith::invertPredicate(op.getPredicate()) : op.getPredicate();
    if (!dependents.contains(value)) {
      std::swap(value, other);
      predicate = lowering::swapSides(predicate);
    }
    if (dependents.contains(other))
      return {};
    Interval limit = intervals.asRange(region.get(other));
    switch (predicate) {
    case CmpIPredicate::slt:
      return solve(value, Side::AtMost, plus(limit, -1));
    case CmpIPredicate::sle:
      return solve(value, Side::AtMost, limit);
    case CmpIPredicate::sgt:
      return solve(value, Side::AtLeast, plus(limit, 1));
    case CmpIPredicate::sge:
      return solve(value, Side::AtLeast, limit);
    case CmpIPredicate::eq: {
      KeyRange above = solve(value, Side::AtLeast, limit);
      return intersect(above, solve(value, Side::AtMost, limit));
    }
    default:
      return {};
    }
  }

  /// Keys for which `value` is at most (at least) some number of `limit`: the
  /// operation that makes the value is undone, down to the key. Nothing where
  /// that operation keeps no order or could wrap.
  KeyRange solve(Value value, Side side, Interval limit) {
    if (value == key)
      return side == Side::AtMost ? KeyRange{{}, limit.hi}
                                  : KeyRange{limit.lo, {}};
    if (++steps > maxSteps)
      return {};
    Operation *op = value.getDefiningOp();
    if (isa<arith::AddIOp, arith::SubIOp>(op))
      return solveSum(*op, side, limit);
    if (isa<arith::FloorDivSIOp, arith::ShRSIOp, arith::MulIOp>(op))
      return solveScaled(*op, side, limit);
    if (isa<math::AbsIOp>(op))
      return solveAbsolute(op->getOperand(0), side, limit);
    if (auto extend = dyn_cast<arith::ExtSIOp>(op))
      op = extend.getIn().getDefiningOp();
    if (auto load = dyn_cast_if_present<attn::LoadOp>(op))
      return solveGather(load, side, limit);
    return {};
  }

  /// x + c, x - c and c - x, with the key in x.
  KeyRange solveSum(Operation &op, Side side, Interval limit) {
    bool subtracts = isa<arith::SubIOp>(op);
    Value x = op.getOperand(0), c = op.getOperand(1);
    bool keyFirst = dependents.contains(x);
    if (!keyFirst)
      std::swap(x, c);
    if (dependents.contains(c))
      return {};
    Interval left = intervals.asRange(region.get(op.getOperand(0)));
    Interval right = intervals.asRange(region.get(op.getOperand(1)));
    int64_t least = left.smin + (subtracts ? -right.smax : right.smin);
    int64_t most = left.smax + (subtracts ? -right.smin : right.smax);
    if (least < INT32_MIN || most > INT32_MAX)
      return {};
    Interval constant = keyFirst ? right : left;
    if (!subtracts)
      return solve(x, side, intervals.sub(limit, constant));
    if (keyFirst)
      return solve(x, side, intervals.add(limit, constant));
    return solve(x, side == Side::AtMost ? Side::AtLeast : Side::AtMost,
                 intervals.sub(constant, limit));
  }

  /// floor(x / c), x >> n and c x for a positive constant.
  KeyRange solveScaled(Operation &op, Side side, Interval limit) {
    Value x = op.getOperand(0);
    std::optional<int64_t> c = getConstant(op.getOperand(1));
    if (isa<arith::MulIOp>(op) && !c)
      x = op.getOperand(1), c = getConstant(op.getOperand(0));
    if (c && isa<arith::ShRSIOp>(op))
      c = *c >= 0 && *c < 31 ? int64_t(1) << *c : 0;
    if (!c || *c <= 0)
      return {};
    if (!isa<arith::MulIOp>(op)) {
      // floor(x / c) <= n iff x <= n c + c - 1, and >= n iff x >= n c.
      Interval scaled = intervals.mul(limit, exact(*c));
      return solve(x, side,
                   side == Side::AtMost ? plus(scaled, *c - 1) : scaled);
    }
    Interval factor = intervals.asRange(region.get(x));
    if (factor.smin * *c < INT32_MIN || factor.smax * *c > INT32_MAX)
      return {};
    return solve(x, side,
                 side == Side::AtMost ? intervals.floorDiv(limit, *c)
                                      : intervals.ceilDiv(limit, *c));
  }

  /// |x| <= n iff -n <= x <= n; at least n is no range.
  KeyRange solveAbsolute(Value x, Side side, Interval limit) {
    if (side == Side::AtLeast ||
        intervals.asRange(region.get(x)).smin == INT32_MIN)
      return {};
    KeyRange below = solve(x, Side::AtMost, limit);
    Interval negative = intervals.sub(exact(0), limit);
    return intersect(below, solve(x, Side::AtLeast, negative));
  }

  /// An element of a sorted buffer: the indices at which it is at most (at
  /// least) the limit, found by search when the kernel runs, then solved for
  /// the key. Indices outside the buffer read its ends.
  KeyRange solveGather(attn::LoadOp load, Side side, Interval limit) {
    if (!load.getSorted() || load.getType().isInteger(64))
      return {};
    SmallVector<Value> row;
    for (Value index : load.getIndices().drop_back()) {
      Value known = region.get(index).exact;
      if (!known)
        return {};
      row.push_back(known);
    }
    bool atMost = side == Side::AtMost;
    Value place = attn::SearchOp::create(
        b, loc, b.getI32Type(), load.getBuffer(), row,
        atMost ? limit.hi : limit.lo, atMost ? b.getUnitAttr() : UnitAttr());
    Value index = load.getIndices().back();
    if (atMost)
      return solve(index, side,
                   plus(intervals.makeExact(place, 0, maxLength), -1));
    // From its first element on: indices before it as well.
    Value fromStart = arith::CmpIOp::create(b, loc, CmpIPredicate::eq, place,
                                            intervals.constant(0));
    Value first = arith::SelectOp::create(
        b, loc, fromStart, intervals.constant(-maxLength), place);
    return solve(index, side,
                 intervals.makeRange(first, first, -maxLength, maxLength));
  }

  Interval exact(int64_t value) {
    return intervals.makeExact(intervals.constant(value), value, value);
  }
  Interval plus(Interval x, int64_t value) {
    return value == 0 ? x : intervals.add(x, exact(value));
  }

  OpBuilder &b;
  Location loc;
  RegionIntervals region;
  IntervalBuilder &intervals;
  Value key;
  DenseSet<Value> dependents;
  unsigned steps = 0;
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
