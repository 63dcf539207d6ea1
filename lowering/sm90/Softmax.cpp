// The running softmax. No branch: the accumulation of the block before is under
// way.
#include "lowering/sm90/Softmax.h"

#include "lowering/sm90/PolynomialExp2.h"
#include "lowering/sm90/RowMaxima.h"

using namespace mlir;
using namespace qm;
using namespace qm::sm90;

/// log2 units by which an element may exceed the reference: P stays below 2^8,
/// far inside every operand type, and the output and lse, which use the same
/// reference, are exact.
static constexpr float growthLimit = 8.0f;

/// Bounded scores, in log2 units: an exponent is at most this, so that a sum of
/// 2^20 of them times values of up to 2^7 is finite, and down to minus this
/// above the least normal number.
static constexpr float largestExponent = 100.0f, largestBound = 80.0f;
/// A row's sum in a thread beyond which its reference is raised.
static constexpr float largestSum = 0x1p40f;

bool qm::sm90::keepsReference(KernelState &state) {
  return state.program.scoreBound <= largestBound && !state.program.storeMax &&
         state.plan.element.isBF16();
}

/// Exponents of bounded scores lie within this of 0.
static float exponentRange(KernelState &state) {
  return std::max(largestExponent, 2 * state.program.scoreBound);
}

/// The offset of a row whose reference is its maximum.
static Value offsetOf(KernelState &state, Value max) {
  LocBuilder &b = state.b;
  Value scaled =
      arith::MulFOp::create(b, max, state.f32(-state.program.exponentFactor));
  return arith::MinNumFOp::create(b, scaled, state.f32(unseen));
}

/// Whether a score modifier reads buffers by query or key.
static bool readsByElement(const Program &program) {
  return llvm::any_of(program.chain, [](Operation *op) {
    Region &region = op->getRegion(0);
    return isa<attn::MapOp>(op) &&
           llvm::any_of(region.getOps<attn::LoadOp>(), [&](attn::LoadOp load) {
             return llvm::any_of(load.getIndices(), [&](Value index) {
               return index.getParentRegion() == &region;
             });
           });
  });
}

/// Elements whose exponentials come before the wait for the product under way.
/// Two consumers in turns: three eighths, which with the row maximum take about
/// as long as the product; none where a modifier's loads have taken that long.
/// Without turns all: the product has to hide them.
static unsigned elementsBeforeWait(KernelState &state, unsigned count) {
  if (!state.plan.pingPong)
    return count;
  return readsByElement(state.program) ? 0 : count * 3 / 8 / 4 * 4;
}
/// Those of them whose exponentials are still under way at the wait.
static constexpr unsigned elementsUnderWay = 8;

/// x factor + offset.
static Value scaleAndAdd(KernelState &state, Value x, Value offset) {
  LocBuilder &b = state.b;
  float factor = state.program.exponentFactor;
  if (factor != 1.0f)
    return math::FmaOp::create(b, x, state.f32(factor), offset);
  // A product as the last step of a score function is contracted with it.
  return arith::AddFOp::create(b, x, offset, arith::FastMathFlags::contract);
}

/// Replaces the scores from one number to another by probabilities and adds
/// them to the sums.
static void exponentiateRange(KernelState &state, BlockScores &scores,
                              Statistics &statistics, unsigned from,
                              unsigned to) {
  LocBuilder &b = state.b;
  Values offsets;
  for (auto [offset, term] : llvm::zip(statistics.offset, scores.rowTerms))
    offsets.push_back(term ? scaleAndAdd(state, term, offset) : offset);
  int64_t polynomials = keepsReference(state) ? state.plan.polyExp2 : 0;
  for (unsigned e = from; e < to; ++e) {
    Value &score = scores.elements.values[e];
    unsigned row = Fragment::rowOf(e);
    Value exponent = scaleAndAdd(state, score, offsets[row]);
    score = isPolynomial(e, polynomials)
                ? polynomialExp2(state, exponent, exponentRange(state),
                                 scores.masked)
                : nvvm::exp2Approx(b, exponent);
    Value &sum = statistics.sum[row];
    sum = sum ? arith::AddFOp::create(b, sum, score).getResult() : score;
  }
}

/// The same with the map that was left for here.
static void mapAndExponentiate(KernelState &state, BlockScores &scores,
                               Statistics &statistics, unsigned from,
                               unsigned to) {
  auto emitCase = [&](gpu::Case which) {
    BlockScores part = scores;
    Statistics own = statistics;
    part.late->apply(part, from, to, which);
    exponentiateRange(state, part, own, from, to);
    Values results(own.sum);
    llvm::append_range(results,
                       ArrayRef(part.elements.values).slice(from, to - from));
    return results;
  };
  SmallVector<Type> types(statistics.sum.size() + to - from,
                          state.b.getF32Type());
  Values results = gpu::emitEither(
      state.b, scores.late->unusual, types,
      [&] { return emitCase(gpu::Case::General); },
      [&] { return emitCase(gpu::Case::Usual); });
  llvm::copy(ArrayRef(results).take_front(2), statistics.sum.begin());
  llvm::copy(ArrayRef(results).drop_front(2),
             scores.elements.values.begin() + from);
}

/// Replaces scores by probabilities and adds them to the sums.
static void exponentiate(KernelState &state, BlockScores &scores,
                         Statistics &statistics, Midway midway) {
  LocBuilder &b = state.b;
  unsigned count = scores.elements.values.size();
  unsigned wait = elementsBeforeWait(state, count);
  if (scores.late) {
    // Nothing moves over the ends of these branches.
    wait = llvm::alignDown(wait, elementsTogether);
    if (wait)
      mapAndExponentiate(state, scores, statistics, 0, wait);
    midway();
    if (wait < count)
      mapAndExponentiate(state, scores, statistics, wait, count);
    return;
  }
  unsigned done = wait > elementsUnderWay ? wait - elementsUnderWay : wait;
  exponentiateRange(state, scores, statistics, 0, done);
  if (done < wait) {
    Value sum = arith::AddFOp::create(b, statistics.sum[0], statistics.sum[1]);
    exponentiateRange(state, scores, statistics, done, wait);
    if (midway)
      nvvm::wgmmaOrder(b, sum);
  }
  if (midway)
    midway();
  exponentiateRange(state, scores, statistics, wait, count);
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
  Values kept(statistics.offset);
  llvm::append_range(kept, statistics.sum);
  kept.append(2, state.f32(1.0f));
  llvm::append_range(kept, scores.elements.values);
  Values raised = emitIf(b, statistics.grew, kept, [&]() -> Values {
    Values raised, sum, alpha, p;
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
      raised.push_back(
          arith::SubFOp::create(b, statistics.offset[row], ifRaised(n, 0.0f)));
      sum.push_back(arith::MulFOp::create(b, statistics.sum[row], alpha[row]));
    }
    for (auto [e, value] : llvm::enumerate(scores.elements.values))
      p.push_back(arith::MulFOp::create(b, value, alpha[Fragment::rowOf(e)]));
    llvm::append_range(raised, sum);
    llvm::append_range(raised, alpha);
    llvm::append_range(raised, p);
    return raised;
  });
  for (unsigned row = 0; row < 2; ++row) {
    statistics.offset[row] = raised[row];
    statistics.sum[row] = raised[2 + row];
    statistics.alpha[row] = raised[4 + row];
  }
  llvm::copy(ValueRange(raised).drop_front(6), scores.elements.values.begin());
}

Statistics qm::sm90::startSoftmax(KernelState &state, BlockScores &scores,
                                  Midway midway) {
  LocBuilder &b = state.b;
  Statistics statistics;
  Values maxima = rowMaxima(state, scores);
  if (keepsReference(state)) {
    // Not so low that the largest score would overflow, for a row without a
    // key neither.
    float floor = (state.program.scoreBound - largestExponent) /
                  state.program.exponentFactor;
    for (Value &max : maxima)
      max = arith::MaxNumFOp::create(b, max, state.f32(floor));
  }
  for (Value max : maxima)
    statistics.offset.push_back(offsetOf(state, max));
  if (state.program.storeMax)
    statistics.max = maxima;
  statistics.sum.resize(2);
  statistics.alpha = {state.f32(1.0f), state.f32(1.0f)};
  statistics.grew = state.boolean(false);
  exponentiate(state, scores, statistics, midway);
  return statistics;
}

/// Raises the references of the warp's rows if one grew by more than 2^8. Where
/// the maximum is an output, the reference is the maximum.
static void followMaxima(KernelState &state, const BlockScores &scores,
                         Statistics &statistics) {
  LocBuilder &b = state.b;
  Value factor = state.f32(state.program.exponentFactor);
  QuickMaxima quick = quickRowMaxima(state, scores);
  Value grew = quick.uncertain;
  for (unsigned row = 0; row < 2; ++row) {
    Value now = quick.maxima[row];
    bool isOutput = !statistics.max.empty();
    Value growth =
        isOutput ? now
                 : math::FmaOp::create(b, now, factor, statistics.offset[row])
                       .getResult();
    Value limit = isOutput ? statistics.max[row] : state.f32(growthLimit);
    Value exceeds =
        arith::CmpFOp::create(b, arith::CmpFPredicate::OGT, growth, limit);
    grew = arith::OrIOp::create(b, grew, exceeds);
  }
  statistics.grew = nvvm::voteAny(b, grew);
  Values kept(statistics.offset);
  llvm::append_range(kept, statistics.sum);
  kept.append(2, state.f32(1.0f));
  llvm::append_range(kept, statistics.max);
  Values raised = emitIf(b, statistics.grew, kept, [&]() -> Values {
    Values maxima = exactRowMaxima(state, scores), offset, sum, alpha;
    for (unsigned row = 0; row < 2; ++row) {
      Value before = statistics.offset[row];
      offset.push_back(
          arith::MinNumFOp::create(b, before, offsetOf(state, maxima[row])));
      alpha.push_back(
          nvvm::exp2Approx(b, arith::SubFOp::create(b, offset[row], before)));
      sum.push_back(arith::MulFOp::create(b, statistics.sum[row], alpha[row]));
    }
    llvm::append_range(offset, sum);
    llvm::append_range(offset, alpha);
    for (auto [max, now] : llvm::zip(statistics.max, maxima))
      offset.push_back(arith::MaxNumFOp::create(b, max, now));
    return offset;
  });
  for (unsigned row = 0; row < 2; ++row) {
    statistics.offset[row] = raised[row];
    statistics.sum[row] = raised[2 + row];
    statistics.alpha[row] = raised[4 + row];
  }
  llvm::copy(ValueRange(raised).drop_front(6), statistics.max.begin());
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
