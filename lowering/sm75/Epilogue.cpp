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
/// Both halves' reference and what each is scaled by to get there.
struct Scales {
  SmallVector<Value> own, other;
};
} // namespace

static Scales mergeStatistics(KernelState &state, SoftmaxStatistics &statistics,
                              ArrayRef<Value> otherMax,
                              ArrayRef<Value> otherSum) {
  LocBuilder &b = state.b;
  Scales scales;
  for (auto [row, max] : llvm::enumerate(statistics.max.values)) {
    Value both = arith::MinNumFOp::create(b, max, otherMax[row]);
    auto scale = [&](Value from) {
      return nvvm::exp2Approx(b, arith::SubFOp::create(b, both, from));
    };
    Value own = scale(max), other = scale(otherMax[row]);
    Value &sum = statistics.sum.values[row];
    sum = math::FmaOp::create(b, otherSum[row], other,
                              arith::MulFOp::create(b, sum, own));
    scales.own.push_back(own);
    scales.other.push_back(other);
    max = both;
  }
  return scales;
}

void qm::sm75::mergeKeyWarps(KernelState &state, Accumulator &accumulator,
                             SoftmaxStatistics &statistics) {
  const Plan &plan = state.plan;
  if (plan.keyWarps == 1)
    return;
  LocBuilder &b = state.b;
  Int keyWarp = state.thread.warp / plan.warps;
  Value isSecond = Int::constant(b, 0).lessThan(keyWarp);
  Int place =
      state.shared +
      (state.rowWarp(state.thread) * 32 + state.thread.lane) * unitBytes;
  int64_t step = plan.warps * 32 * unitBytes;

  // Statistics go first, then as many column groups as shared memory holds.
  SmallVector<Value> rows = statistics.max.values;
  llvm::append_range(rows, statistics.sum.values);
  int64_t rowUnits = rows.size() / 4;
  int64_t fitting =
      (plan.sharedBytes() / step - rowUnits) / accumulator.rowTiles;
  int64_t passes = llvm::divideCeil(accumulator.groups, fitting);
  int64_t perPass = llvm::divideCeil(accumulator.groups, passes);
  Scales scales;
  for (unsigned first = 0; first < accumulator.groups; first += perPass) {
    unsigned last = std::min<unsigned>(first + perPass, accumulator.groups);
    auto offset = [&](unsigned t, unsigned group) {
      return (rowUnits + (group - first) * accumulator.rowTiles + t) * step;
    };
    nvvm::barrier(b); // what was there is no longer needed
    emitIf(b, isSecond, {}, [&]() -> SmallVector<Value> {
      for (int64_t unit = 0; first == 0 && unit < rowUnits; ++unit)
        nvvm::storeShared128(b, {}, place, unit * step,
                             ArrayRef(rows).slice(4 * unit, 4));
      for (unsigned group = first; group < last; ++group)
        for (unsigned t = 0; t < accumulator.rowTiles; ++t)
          nvvm::storeShared128(b, {}, place, offset(t, group),
                               accumulator.group(t, group));
      return {};
    });
    nvvm::barrier(b);
    if (first == 0) {
      SmallVector<Value> other;
      for (int64_t unit = 0; unit < rowUnits; ++unit)
        llvm::append_range(other, nvvm::loadShared4xF32(b, place, unit * step));
      ArrayRef<Value> values(other);
      size_t count = statistics.max.values.size();
      scales = mergeStatistics(state, statistics, values.take_front(count),
                               values.drop_front(count));
    }
    for (unsigned group = first; group < last; ++group)
      for (unsigned t = 0; t < accumulator.rowTiles; ++t) {
        nvvm::Values other = nvvm::loadShared4xF32(b, place, offset(t, group));
        for (unsigned e = 0; e < 4; ++e) {
          Value &value = accumulator.at(t, group, e);
          unsigned row = accumulator.rowOf(accumulator.index(t, group, e));
          value = math::FmaOp::create(
              b, other[e], scales.other[row],
              arith::MulFOp::create(b, value, scales.own[row]));
        }
      }
  }
  // The output is staged where others still read.
  nvvm::barrier(b);
  nvvm::exitIf(b, isSecond);
}
