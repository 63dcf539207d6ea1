// The running softmax. No branch: the accumulation of the block before is under
// way.
#include "lowering/sm90/Softmax.h"

#include "lowering/sm90/PolynomialExp2.h"
#include "lowering/sm90/RowMaxima.h"

#include <limits>

using namespace mlir;
using namespace qm;
using namespace qm::sm90;

/// log2 units by which an element may exceed the reference: P stays below 2^8,
/// far inside every operand type, and the output and lse, which use the same
/// reference, are exact.
static constexpr float growthLimit = 8.0f;
static constexpr float infinity = std::numeric_limits<float>::infinity();

/// Bounded scores, in log2 units: an exponent is at most this, so that a sum of
/// 2^20 of them times values of up to 2^7 is finite, and down to minus this
/// above the least normal number.
static constexpr float largestExponent = 100.0f, largestBound = 80.0f;
/// A row's sum in a thread beyond which its reference is raised.
static constexpr float largestSum = 0x1p40f;

/// Whether the reference of the exponents stays, block after block, until a sum
/// says that it is far too low: bounded scores cannot make an exponential
/// overflow. No maximum is taken then but that of a tile's first block.
static bool keepsReference(KernelState &state) {
  return state.program.scoreBound <= largestBound && !state.program.storeMax &&
         state.plan.element.isBF16();
}

/// Exponents of bounded scores lie within this of 0.
static float exponentRange(KernelState &state) {
  return std::max(largestExponent, 2 * state.program.scoreBound);
}

/// What follows from the reference of a row.
static Value offsetOf(KernelState &state, Value max) {
  LocBuilder &b = state.b;
  Value scaled =
      arith::MulFOp::create(b, max, state.f32(-state.program.exponentFactor));
  if (keepsReference(state))
    return scaled;
  // A row without a key so far has -inf: its exponents are -inf + 0, not NaN.
  Value unseen = arith::CmpFOp::create(b, arith::CmpFPredicate::OEQ, max,
                                       state.f32(-infinity));
  return arith::SelectOp::create(b, unseen, state.f32(0.0f), scaled);
}

static Value thresholdOf(KernelState &state, Value max) {
  // Where the maximum is an output, the reference is the maximum.
  float growth = state.program.storeMax
                     ? 0.0f
                     : growthLimit / state.program.exponentFactor;
  return arith::AddFOp::create(state.b, max, state.f32(growth));
}

/// Elements whose exponentials come before the wait for the product under way.
/// Two consumers in turns: half, which takes as long as the product; without
/// turns three quarters.
static unsigned elementsBeforeWait(KernelState &state, unsigned count) {
  return (state.plan.pingPong ? count / 2 : count * 3 / 4) / 4 * 4;
}

/// Elements between the exponential that the wait comes after and the wait:
/// those are under way then.
static constexpr unsigned elementsUnderWay = 8;

/// Replaces scores by probabilities and adds them to the sums.
static void exponentiate(KernelState &state, BlockScores &scores,
                         Statistics &statistics, Midway midway) {
  LocBuilder &b = state.b;
  Value factor = state.f32(state.program.exponentFactor);
  Values offsets;
  for (auto [offset, term] : llvm::zip(statistics.offset, scores.rowTerms))
    offsets.push_back(
        term ? math::FmaOp::create(b, term, factor, offset).getResult()
             : offset);
  int64_t polynomials = keepsReference(state) ? state.plan.polyExp2 : 0;
  unsigned wait = elementsBeforeWait(state, scores.elements.values.size());
  Value done;
  for (auto [e, score] : llvm::enumerate(scores.elements.values)) {
    if (e + elementsUnderWay == wait)
      done = arith::AddFOp::create(b, statistics.sum[0], statistics.sum[1]);
    if (e == wait && midway) {
      if (done)
        nvvm::wgmmaOrder(b, done);
      midway();
    }
    unsigned row = Fragment::rowOf(e);
    Value exponent = math::FmaOp::create(b, score, factor, offsets[row]);
    bool polynomial = isPolynomial(e, polynomials);
    score = polynomial ? polynomialExp2(state, exponent, exponentRange(state),
                                        scores.masked)
                       : nvvm::exp2Approx(b, exponent);
    Value &sum = statistics.sum[row];
    sum = sum ? arith::AddFOp::create(b, sum, score).getResult() : score;
  }
}

/// 2^-n and n for 2^n <= x < 2^(n + 1).
static std::pair<Value, Value> inverseOfPower(KernelState &state, Value x) {
  LocBuilder &b = state.b;
  constexpr int64_t exponentBits = 0x7f800000, twiceBias = 0x7f000000;
  Int power(b, arith::AndIOp::create(
                   b, arith::BitcastOp::create(b, b.getI32Type(), x),
                   state.i32(exponentBits)));
  Value inverse =
      arith::BitcastOp::create(b, b.getF32Type(), state.i32(twiceBias) - power);
  Value n = arith::SIToFPOp::create(b, b.getF32Type(), (power >> 23) - 127);
  return {inverse, n};
}

/// Raises the reference of rows whose sum has become very large; their
/// probabilities in this block follow.
static void raiseReferences(KernelState &state, BlockScores &scores,
                            Statistics &statistics) {
  LocBuilder &b = state.b;
  Value limit = state.f32(largestSum);
  auto exceeds = [&](Value sum) -> Value {
    return arith::CmpFOp::create(b, arith::CmpFPredicate::OGT, sum, limit);
  };
  statistics.grew =
      nvvm::voteAny(b, arith::OrIOp::create(b, exceeds(statistics.sum[0]),
                                            exceeds(statistics.sum[1])));
  Values kept(statistics.max);
  llvm::append_range(kept, statistics.sum);
  kept.append(2, state.f32(1.0f));
  llvm::append_range(kept, statistics.offset);
  llvm::append_range(kept, scores.elements.values);
  Values raised = emitIf(b, statistics.grew, kept, [&]() -> Values {
    Values max, sum, alpha, p;
    for (unsigned row = 0; row < 2; ++row) {
      Value total = statistics.sum[row];
      for (unsigned mask : {1, 2})
        total =
            arith::AddFOp::create(b, total, nvvm::shuffleXor(b, total, mask));
      auto [inverse, n] = inverseOfPower(state, total);
      Value raises = exceeds(total);
      auto ifRaised = [&](Value value, float otherwise) -> Value {
        return arith::SelectOp::create(b, raises, value, state.f32(otherwise));
      };
      alpha.push_back(ifRaised(inverse, 1.0f));
      Value growth = arith::MulFOp::create(
          b, ifRaised(n, 0.0f), state.f32(1 / state.program.exponentFactor));
      max.push_back(arith::AddFOp::create(b, statistics.max[row], growth));
      sum.push_back(arith::MulFOp::create(b, statistics.sum[row], alpha[row]));
    }
    for (auto [e, value] : llvm::enumerate(scores.elements.values))
      p.push_back(arith::MulFOp::create(b, value, alpha[Fragment::rowOf(e)]));
    Values all(max);
    llvm::append_range(all, sum);
    llvm::append_range(all, alpha);
    for (Value row : max)
      all.push_back(offsetOf(state, row));
    llvm::append_range(all, p);
    return all;
  });
  for (unsigned row = 0; row < 2; ++row) {
    statistics.max[row] = raised[row];
    statistics.sum[row] = raised[2 + row];
    statistics.alpha[row] = raised[4 + row];
    statistics.offset[row] = raised[6 + row];
  }
  llvm::copy(ValueRange(raised).drop_front(8), scores.elements.values.begin());
}

Statistics qm::sm90::startSoftmax(KernelState &state, BlockScores &scores,
                                  Midway midway) {
  LocBuilder &b = state.b;
  Statistics statistics;
  statistics.max = rowMaxima(state, scores);
  if (keepsReference(state)) {
    // Not so low that the largest score would overflow, for a row without a
    // key neither.
    float floor = (state.program.scoreBound - largestExponent) /
                  state.program.exponentFactor;
    for (Value &max : statistics.max)
      max = arith::MaxNumFOp::create(b, max, state.f32(floor));
  }
  for (Value max : statistics.max) {
    statistics.offset.push_back(offsetOf(state, max));
    if (!keepsReference(state))
      statistics.threshold.push_back(thresholdOf(state, max));
  }
  statistics.sum.resize(2);
  statistics.alpha = {state.f32(1.0f), state.f32(1.0f)};
  statistics.grew = state.boolean(false);
  exponentiate(state, scores, statistics, midway);
  return statistics;
}

/// New references where a row's maximum exceeds the threshold in a thread of
/// the warp, and what follows from them.
static void followMaxima(KernelState &state, const BlockScores &scores,
                         Statistics &statistics) {
  LocBuilder &b = state.b;
  Value factor = state.f32(state.program.exponentFactor);
  QuickMaxima quick = quickRowMaxima(state, scores);
  Value grew = quick.uncertain;
  for (auto [now, threshold] : llvm::zip(quick.maxima, statistics.threshold))
    grew = arith::OrIOp::create(
        b, grew,
        arith::CmpFOp::create(b, arith::CmpFPredicate::OGT, now, threshold));
  statistics.grew = nvvm::voteAny(b, grew);
  Values kept(statistics.max);
  llvm::append_range(kept, statistics.sum);
  kept.append(2, state.f32(1.0f));
  llvm::append_range(kept, statistics.offset);
  llvm::append_range(kept, statistics.threshold);
  Values raised = emitIf(b, statistics.grew, kept, [&]() -> Values {
    Values maxima = exactRowMaxima(state, scores), max, sum, alpha;
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
    Values all(max);
    llvm::append_range(all, sum);
    llvm::append_range(all, alpha);
    for (Value row : max)
      all.push_back(offsetOf(state, row));
    for (Value row : max)
      all.push_back(thresholdOf(state, row));
    return all;
  });
  for (unsigned row = 0; row < 2; ++row) {
    statistics.max[row] = raised[row];
    statistics.sum[row] = raised[2 + row];
    statistics.alpha[row] = raised[4 + row];
    statistics.offset[row] = raised[6 + row];
    statistics.threshold[row] = raised[8 + row];
  }
}

void qm::sm90::stepSoftmax(KernelState &state, BlockScores &scores,
                           Statistics &statistics, Midway midway) {
  if (keepsReference(state)) {
    exponentiate(state, scores, statistics, midway);
    raiseReferences(state, scores, statistics);
    return;
  }
  followMaxima(state, scores, statistics);
  exponentiate(state, scores, statistics, midway);
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
