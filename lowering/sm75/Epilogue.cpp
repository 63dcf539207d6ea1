// The merge of two accumulators over the keys.
#include "lowering/sm75/Epilogue.h"

#include "lowering/nvvm/Turing.h"

#include "mlir/Dialect/Math/IR/Math.h"

using namespace mlir;
using namespace qm;
using namespace qm::sm80;

/// A unit: four f32 a thread, 16 bytes a lane side by side, without conflicts.
static constexpr int64_t unitBytes = 16;

namespace {
/// A warp and its partner, which has the other keys of the same rows. With two
/// row tiles each keeps one of them, so that all warps have a part in what
/// follows; with one tile the second warp sends it and ends.
class Exchange {
public:
  Exchange(KernelState &state, Accumulator &accumulator,
           SoftmaxStatistics &statistics);
  void run();

private:
  /// The values for row tile 0 or 1, as a unit.
  using Unit = llvm::function_ref<SmallVector<Value>(unsigned tile)>;

  Int box(Int warp) const {
    return state.shared + (warp * 32 + state.thread.lane) * unitBytes;
  }
  void send(int64_t offset, Unit unit);
  SmallVector<Value> keep(Unit unit);
  SmallVector<Value> statisticsOf(unsigned tile) const;
  void mergeStatistics();
  void mergeGroup(unsigned group, int64_t offset);

  KernelState &state;
  LocBuilder &b;
  Accumulator &accumulator;
  SoftmaxStatistics &statistics;
  bool divides; ///< each warp keeps a row tile, the first one tile 0
  Value isFirst, isSecond;
  Int own, partner; ///< boxes in shared memory: what is meant for a warp
  int64_t step;     ///< bytes from a unit of a box to the next
  Accumulator kept;
  SmallVector<Value> ownScale, otherScale; ///< of the rows that are kept
};
} // namespace

Exchange::Exchange(KernelState &state, Accumulator &accumulator,
                   SoftmaxStatistics &statistics)
    : state(state), b(state.b), accumulator(accumulator),
      statistics(statistics), divides(accumulator.rowTiles > 1),
      kept(1, accumulator.groups) {
  const Plan &plan = state.plan;
  Int warp = state.thread.warp;
  isFirst = warp.lessThan(plan.warps);
  isSecond = Int::constant(b, plan.warps).atMost(warp);
  int64_t boxes = divides ? plan.warps * plan.keyWarps : plan.warps;
  step = boxes * 32 * unitBytes;
  own = box(divides ? warp : state.rowWarp(state.thread));
  partner = divides ? box((warp + plan.warps) % boxes) : own;
}

void Exchange::send(int64_t offset, Unit unit) {
  nvvm::storeShared128(b, isSecond, partner, offset, unit(0));
  if (divides)
    nvvm::storeShared128(b, isFirst, partner, offset, unit(1));
}

SmallVector<Value> Exchange::keep(Unit unit) {
  SmallVector<Value> values = unit(0);
  if (divides)
    for (auto [value, second] : llvm::zip_equal(values, unit(1)))
      value = nvvm::selectInOrder(b, isSecond, second, value);
  return values;
}

/// Maxima and sums of the two rows of a tile.
SmallVector<Value> Exchange::statisticsOf(unsigned tile) const {
  SmallVector<Value> values;
  for (const Rows *rows : {&statistics.max, &statistics.sum})
    llvm::append_range(values, ArrayRef(rows->values).slice(2 * tile, 2));
  return values;
}

void Exchange::mergeStatistics() {
  SmallVector<Value> mine =
      keep([&](unsigned tile) { return statisticsOf(tile); });
  nvvm::Values other = nvvm::loadShared4xF32(b, own, 0);
  SmallVector<Value> max, sum;
  for (unsigned row : {0, 1}) {
    Value both = arith::MinNumFOp::create(b, mine[row], other[row]);
    auto scale = [&](Value from) {
      return nvvm::exp2Approx(b, arith::SubFOp::create(b, both, from));
    };
    ownScale.push_back(scale(mine[row]));
    otherScale.push_back(scale(other[row]));
    Value scaled = arith::MulFOp::create(b, mine[2 + row], ownScale[row]);
    max.push_back(both);
    sum.push_back(
        math::FmaOp::create(b, other[2 + row], otherScale[row], scaled));
  }
  statistics = {Rows{max}, Rows{sum}};
}

void Exchange::mergeGroup(unsigned group, int64_t offset) {
  SmallVector<Value> mine = keep([&](unsigned tile) {
    return llvm::to_vector(accumulator.group(tile, group));
  });
  nvvm::Values other = nvvm::loadShared4xF32(b, own, offset);
  for (unsigned e = 0; e < 4; ++e) {
    unsigned row = kept.rowOf(kept.index(0, group, e));
    kept.at(0, group, e) =
        math::FmaOp::create(b, other[e], otherScale[row],
                            arith::MulFOp::create(b, mine[e], ownScale[row]));
  }
}

/// Statistics go first, then as many column groups as shared memory holds.
void Exchange::run() {
  unsigned groups = accumulator.groups;
  int64_t fitting = state.plan.sharedBytes() / step - 1;
  int64_t perPass = llvm::divideCeil(groups, llvm::divideCeil(groups, fitting));
  for (unsigned first = 0; first < groups; first += perPass) {
    unsigned last = std::min<unsigned>(first + perPass, groups);
    auto offset = [&](unsigned group) { return (1 + group - first) * step; };
    nvvm::barrier(b); // what was there is no longer needed
    if (first == 0)
      send(0, [&](unsigned tile) { return statisticsOf(tile); });
    for (unsigned group = first; group < last; ++group)
      send(offset(group), [&](unsigned tile) {
        return llvm::to_vector(accumulator.group(tile, group));
      });
    nvvm::barrier(b);
    if (first == 0)
      mergeStatistics();
    for (unsigned group = first; group < last; ++group)
      mergeGroup(group, offset(group));
  }
  accumulator = std::move(kept);
  // The output is staged where others still read.
  nvvm::barrier(b);
  if (!divides)
    nvvm::exitIf(b, isSecond);
  state.rowsAreDivided = divides;
}

void qm::sm75::mergeKeyWarps(KernelState &state, Accumulator &accumulator,
                             SoftmaxStatistics &statistics) {
  if (state.plan.keyWarps > 1)
    Exchange(state, accumulator, statistics).run();
}
