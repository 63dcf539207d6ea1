// The running softmax. No branch: the accumulation of the block before is under
// way.
#include "lowering/sm90/Softmax.h"

#include <limits>

using namespace mlir;
using namespace qm;
using namespace qm::sm90;

/// log2 units by which an element may exceed the reference: P stays below 2^8,
/// far inside every operand type, and the output and lse, which use the same
/// reference, are exact.
static constexpr float growthLimit = 8.0f;
static constexpr float infinity = std::numeric_limits<float>::infinity();

/// The maxima of the two rows over all their lanes.
static Values rowMaxima(KernelState &state, BlockScores &scores) {
  LocBuilder &b = state.b;
  Values maxima(2);
  for (auto [e, score] : llvm::enumerate(scores.elements.values)) {
    Value &row = maxima[Fragment::rowOf(e)];
    row = row ? arith::MaxNumFOp::create(b, row, score).getResult() : score;
  }
  // A term is that of the thread's part of the row: lanes start at other keys.
  for (auto [row, term] : llvm::zip(maxima, scores.rowTerms))
    if (term)
      row = arith::AddFOp::create(b, row, term);
  for (unsigned mask : {1, 2})
    for (Value &row : maxima)
      row = arith::MaxNumFOp::create(b, row, nvvm::shuffleXor(b, row, mask));
  return maxima;
}

/// Replaces scores by probabilities and adds them to the sums.
static void exponentiate(KernelState &state, BlockScores &scores,
                         Statistics &statistics) {
  LocBuilder &b = state.b;
  Value factor = state.f32(state.program.exponentFactor);
  Values reference;
  for (auto [max, term] : llvm::zip(statistics.max, scores.rowTerms)) {
    // A row without a key so far has -inf: its exponents are -inf + 0, not NaN.
    Value unseen = arith::CmpFOp::create(b, arith::CmpFPredicate::OEQ, max,
                                         state.f32(-infinity));
    Value scaled = term ? arith::MulFOp::create(
                              b, arith::SubFOp::create(b, term, max), factor)
                        : arith::MulFOp::create(
                              b, max, state.f32(-state.program.exponentFactor));
    reference.push_back(
        arith::SelectOp::create(b, unseen, state.f32(0.0f), scaled));
  }
  for (auto [e, score] : llvm::enumerate(scores.elements.values)) {
    unsigned row = Fragment::rowOf(e);
    score = nvvm::exp2Approx(
        b, math::FmaOp::create(b, score, factor, reference[row]));
    Value &sum = statistics.sum[row];
    sum = sum ? arith::AddFOp::create(b, sum, score).getResult() : score;
  }
}

Statistics qm::sm90::startSoftmax(KernelState &state, BlockScores &scores) {
  Statistics statistics;
  statistics.max = rowMaxima(state, scores);
  statistics.sum.resize(2);
  statistics.alpha = {state.f32(1.0f), state.f32(1.0f)};
  statistics.grew = state.boolean(false);
  exponentiate(state, scores, statistics);
  return statistics;
}

void qm::sm90::stepSoftmax(KernelState &state, BlockScores &scores,
                           Statistics &statistics) {
  LocBuilder &b = state.b;
  Value factor = state.f32(state.program.exponentFactor);
  Values maxima = rowMaxima(state, scores);
  // Where the maximum is an output, the reference is the maximum.
  Value limit = state.f32(state.program.storeMax ? 0.0f : growthLimit), grew;
  for (auto [now, before] : llvm::zip(maxima, statistics.max)) {
    // -inf minus -inf is NaN, which has not grown.
    Value growth =
        arith::MulFOp::create(b, arith::SubFOp::create(b, now, before), factor);
    Value exceeds =
        arith::CmpFOp::create(b, arith::CmpFPredicate::OGT, growth, limit);
    grew = grew ? arith::OrIOp::create(b, grew, exceeds).getResult() : exceeds;
  }
  statistics.grew = nvvm::voteAny(b, grew);
  Values kept(statistics.max);
  llvm::append_range(kept, statistics.sum);
  kept.append(2, state.f32(1.0f));
  Values raised = emitIf(b, statistics.grew, kept, [&]() -> Values {
    Values max, sum, alpha;
    for (unsigned row = 0; row < 2; ++row) {
      Value before = statistics.max[row];
      max.push_back(arith::MaxNumFOp::create(b, before, maxima[row]));
      Value exponent = arith::MulFOp::create(
          b, arith::SubFOp::create(b, before, max[row]), factor);
      // -inf minus -inf: there was nothing to scale.
      Value unseen = arith::CmpFOp::create(b, arith::CmpFPredicate::OEQ,
                                           max[row], state.f32(-infinity));
      alpha.push_back(arith::SelectOp::create(b, unseen, state.f32(1.0f),
                                              nvvm::exp2Approx(b, exponent)));
      sum.push_back(arith::MulFOp::create(b, statistics.sum[row], alpha[row]));
    }
    llvm::append_range(max, sum);
    llvm::append_range(max, alpha);
    return max;
  });
  for (unsigned row = 0; row < 2; ++row) {
    statistics.max[row] = raised[row];
    statistics.sum[row] = raised[2 + row];
    statistics.alpha[row] = raised[4 + row];
  }
  exponentiate(state, scores, statistics);
}

void qm::sm90::rescale(KernelState &state, Fragment &accumulator,
                       const Statistics &statistics) {
  LocBuilder &b = state.b;
  accumulator.values =
      emitIf(b, statistics.grew, accumulator.values, [&]() -> Values {
        Values scaled;
        for (auto [e, value] : llvm::enumerate(accumulator.values))
          scaled.push_back(arith::MulFOp::create(
              b, value, statistics.alpha[Fragment::rowOf(e)]));
        return scaled;
      });
}

Values qm::sm90::packProbabilities(KernelState &state, Fragment &p) {
  // Two neighbouring groups of 8 columns are the A operand of 16: rows 0-7 and
  // 8-15 of the first, then of the second.
  Values words;
  for (unsigned e = 0; e < p.values.size(); e += 2)
    words.push_back(nvvm::packPair(state.b, state.plan.element, p.values[e],
                                   p.values[e + 1]));
  return words;
}
