// Gathers in a mask region evaluated on intervals: what the elements of a
// captured buffer can be over a range of indices, without reading them all.
#include "passes/RegionIntervals.h"

#include "mlir/IR/IRMapping.h"

using namespace mlir;
using namespace qm;
using namespace qm::passes;

/// A gather by one index that is a range. A buffer that is sorted has its least
/// and largest element at the ends of the range: clamping an index keeps the
/// order. Otherwise the kernel looks at the elements of the range when it comes
/// to the block.
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
  auto read = [&](IRMapping &mapping) -> Value {
    return builder.clone(*op, mapping)->getResult(0);
  };
  Value index = op.getIndices()[*ranged];
  if (op.getSorted() && *ranged + 1 == op.getIndices().size()) {
    Value first = read(ends[0]);
    return intervals.fromElements(first, read(ends[1]));
  }
  if (steps.contains(index)) {
    Value first = read(ends[0]);
    return liftNeighbours(first, read(ends[1]), range);
  }
  if (unread && unread->contains(index))
    return {};
  return liftExtrema(op, ends[0], *ranged, range);
}

/// An index that moves in steps, as the tile of a block list or the document of
/// a token, often has one or two neighbouring values over a block: they are
/// read. A longer range can hold anything.
Interval RegionIntervals::liftNeighbours(Value first, Value second,
                                         Interval indices) {
  Location loc = first.getLoc();
  Interval pair = intervals.fromElements(
      arith::MinSIOp::create(builder, loc, first, second),
      arith::MaxSIOp::create(builder, loc, first, second));
  Value distance = arith::SubIOp::create(builder, loc, indices.hi, indices.lo);
  Value neighbours = arith::CmpIOp::create(
      builder, loc, arith::CmpIPredicate::ult, distance, intervals.constant(2));
  Interval any = intervals.makeBetween(pair.smin, pair.smax);
  auto choose = [&](Value near, Value far) -> Value {
    return arith::SelectOp::create(builder, loc, neighbours, near, far);
  };
  return intervals.makeRange(choose(pair.lo, any.lo), choose(pair.hi, any.hi),
                             pair.smin, pair.smax);
}

/// The extrema of the elements that a range of indices has.
Interval RegionIntervals::liftExtrema(attn::LoadOp op, IRMapping &firsts,
                                      unsigned dimension, Interval indices) {
  SmallVector<Value> from = llvm::map_to_vector(
      op.getIndices(), [&](Value index) { return firsts.lookup(index); });
  auto extrema = attn::ExtremaOp::create(builder, op.getLoc(), op.getBuffer(),
                                         from, indices.hi, dimension);
  return intervals.makeRange(extrema.getLeast(), extrema.getGreatest(),
                             extrema.getTypeMinimum(),
                             extrema.getTypeMaximum());
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
