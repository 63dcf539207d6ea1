// Gathers in a mask region evaluated on intervals: what the elements of a
// captured buffer can be over a range of indices, without reading them all.
#include "passes/RegionIntervals.h"

#include "mlir/IR/IRMapping.h"

using namespace mlir;
using namespace qm;
using namespace qm::passes;

/// A gather by one index that is a range. A buffer that is sorted has its least
/// and largest element at the ends of the range: clamping an index keeps the
/// order. Otherwise one or two neighbours are read, where an index that moves
/// in steps, as the tile of a block list or the document of a token, has no
/// more of them; a longer range can hold anything.
Interval RegionIntervals::liftLoad(attn::LoadOp op) {
  if (!op.getType().isInteger())
    return {};
  IRMapping ends[2];
  std::optional<unsigned> ranged;
  Interval range;
  for (auto [number, index] : llvm::enumerate(op.getIndices())) {
    Interval fact = get(index);
    if (!fact.exact && ranged)
      return {};
    if (!fact.exact)
      ranged = number, range = intervals.asRange(fact);
    ends[0].map(index, fact.exact ? fact.exact : range.lo);
    ends[1].map(index, fact.exact ? fact.exact : range.hi);
  }
  bool sorted = op.getSorted() && *ranged + 1 == op.getIndices().size();
  if (!sorted && !steps.contains(op.getIndices()[*ranged]))
    return {};
  auto read = [&](IRMapping &mapping) -> Value {
    return builder.clone(*op, mapping)->getResult(0);
  };
  Value first = read(ends[0]), second = read(ends[1]);
  if (sorted)
    return intervals.fromElements(first, second);
  Location loc = op.getLoc();
  Interval pair = intervals.fromElements(
      arith::MinSIOp::create(builder, loc, first, second),
      arith::MaxSIOp::create(builder, loc, first, second));
  Value distance = arith::SubIOp::create(builder, loc, range.hi, range.lo);
  Value neighbours = arith::CmpIOp::create(
      builder, loc, arith::CmpIPredicate::ult, distance, intervals.constant(2));
  Interval any = intervals.makeBetween(pair.smin, pair.smax);
  auto choose = [&](Value near, Value far) -> Value {
    return arith::SelectOp::create(builder, loc, neighbours, near, far);
  };
  return intervals.makeRange(choose(pair.lo, any.lo), choose(pair.hi, any.hi),
                             pair.smin, pair.smax);
}

/// Quotients by a constant and elements of sorted buffers keep their value over
/// many neighbouring indices; so does what is computed from them and from
/// values that are known.
bool RegionIntervals::isStep(Operation &op) {
  if (get(op.getResult(0)).exact)
    return false;
  if (isa<arith::FloorDivSIOp, arith::DivSIOp, arith::ShRSIOp>(op))
    return getConstant(op.getOperand(1)).value_or(0) > 1;
  if (auto load = dyn_cast<attn::LoadOp>(op); load && load.getSorted())
    return true;
  return llvm::all_of(op.getOperands(), [&](Value operand) {
    return isa<RankedTensorType>(operand.getType()) || get(operand).exact ||
           steps.contains(operand);
  });
}
