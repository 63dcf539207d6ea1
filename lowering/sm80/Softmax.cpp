// One step of the running softmax.
#include "lowering/sm80/Machine.h"
#include "lowering/sm80/WideOperands.h"

#include "mlir/Dialect/Math/IR/Math.h"

#include <cmath>

using namespace mlir;
using namespace qm;
using namespace qm::sm80;

/// log2 units by which an element may exceed the reference: P stays below 2^8,
/// far inside every operand type.
static constexpr float growthLimit = 8.0f;

float qm::sm80::exponentFactor(std::optional<APFloat> exp2Scale) {
  return exp2Scale ? exp2Scale->convertToFloat() : float(M_LOG2E);
}

static Value fma(LocBuilder &b, Value x, Value y, Value z) {
  return math::FmaOp::create(b, x, y, z);
}

void qm::sm80::updateReference(KernelState &state, Accumulator &scores,
                               float factor, SoftmaxStatistics &statistics,
                               ArrayRef<Accumulator *> accumulators) {
  LocBuilder &b = state.b;
  unsigned rows = 2 * scores.rowTiles;
  // The maximum of the thread's own elements of each row.
  SmallVector<Value> highest(rows);
  for (auto [e, score] : llvm::enumerate(scores.values)) {
    Value &row = highest[scores.rowOf(e)];
    row = row ? arith::MaxNumFOp::create(b, row, score).getResult() : score;
  }
  Value c = state.f32(factor), grew;
  Value limit = state.f32(state.exactMax ? 0.0f : growthLimit);
  for (unsigned row = 0; row < rows; ++row) {
    // A thread without any key has -inf.
    Value above = fma(b, highest[row], c, statistics.max.values[row]);
    Value exceeds =
        arith::CmpFOp::create(b, arith::CmpFPredicate::OGT, above, limit);
    grew = grew ? arith::OrIOp::create(b, grew, exceeds).getResult() : exceeds;
  }

  SmallVector<Value> before;
  llvm::append_range(before, statistics.max.values);
  llvm::append_range(before, statistics.sum.values);
  for (Accumulator *accumulator : accumulators)
    llvm::append_range(before, accumulator->values);
  SmallVector<Value> after = emitIf(b, nvvm::voteAny(b, grew), before, [&]() {
    SmallVector<Value> max, sum, rescaled, alpha;
    for (unsigned row = 0; row < rows; ++row) {
      Value high = highest[row];
      for (unsigned mask : {1, 2})
        high =
            arith::MaxNumFOp::create(b, high, nvvm::shuffleXor(b, high, mask));
      Value old = statistics.max.values[row];
      Value now = arith::MinNumFOp::create(
          b, old, arith::MulFOp::create(b, high, state.f32(-factor)));
      alpha.push_back(nvvm::exp2Approx(b, arith::SubFOp::create(b, now, old)));
      max.push_back(now);
      sum.push_back(
          arith::MulFOp::create(b, statistics.sum.values[row], alpha.back()));
    }
    for (Accumulator *accumulator : accumulators)
      for (auto [e, value] : llvm::enumerate(accumulator->values))
        rescaled.push_back(
            arith::MulFOp::create(b, value, alpha[accumulator->rowOf(e)]));
    llvm::append_range(max, sum);
    llvm::append_range(max, rescaled);
    return max;
  });

  ArrayRef<Value> rest(after);
  auto take = [&](MutableArrayRef<Value> into) {
    llvm::copy(rest.take_front(into.size()), into.begin());
    rest = rest.drop_front(into.size());
  };
  take(statistics.max.values);
  take(statistics.sum.values);
  for (Accumulator *accumulator : accumulators)
    take(accumulator->values);
}

void qm::sm80::exponentiate(KernelState &state, Accumulator &scores,
                            float factor, SoftmaxStatistics &statistics) {
  LocBuilder &b = state.b;
  Value c = state.f32(factor);
  SmallVector<Value> reference;
  for (Value max : statistics.max.values)
    reference.push_back(max);
  for (auto [e, score] : llvm::enumerate(scores.values)) {
    unsigned row = scores.rowOf(e);
    score = nvvm::exp2Approx(b, fma(b, score, c, reference[row]));
    Value &sum = statistics.sum.values[row];
    sum = arith::AddFOp::create(b, sum, score);
  }
}

Packed qm::sm80::packOperands(KernelState &state, Type element,
                              Accumulator &tile) {
  if (state.plan.wide())
    return packWide(state, tile);
  Packed packed{tile.groups / 2, {}};
  for (unsigned t = 0; t < tile.rowTiles; ++t)
    for (unsigned group = 0; group < tile.groups; ++group)
      for (unsigned half = 0; half < 2; ++half)
        packed.words.push_back(state.machine.packPair(
            state.b, element, tile.at(t, group, 2 * half),
            tile.at(t, group, 2 * half + 1)));
  return packed;
}
