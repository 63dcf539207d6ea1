//===- Softmax.cpp - score chain and running softmax of a strip -----------===//

#include "lowering/cpu/Softmax.h"

#include "lowering/cpu/ArgumentSlots.h"
#include "lowering/cpu/Exp2.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "mlir/Transforms/LoopInvariantCodeMotionUtils.h"

#include <limits>
#include <numbers>

using namespace mlir;
using namespace qm;
using namespace qm::cpu;

using Values = VectorBuilder::Values;

static constexpr float minusInfinity = -std::numeric_limits<float>::infinity();

bool ScoreChain::hasMask() const {
  return llvm::any_of(ops, llvm::IsaPred<attn::MaskOp>);
}

/// Moves what depends on query rows only out of the loop over keys, captured
/// loads included: their memory is read-only during the call, which LLVM cannot
/// know of a gather.
static void hoistRowInvariants(scf::ForOp loop) {
  moveLoopInvariantCode(
      &loop.getRegion(),
      [&](Value value, Region *) { return loop.isDefinedOutsideOfLoop(value); },
      [](Operation *op, Region *) {
        return isMemoryEffectFree(op) || op->hasAttr(invariantLoadAttr);
      },
      [&](Operation *op, Region *) { loop.moveOutOfLoop(op); });
}

/// `score` after the chain, at rows `i` (vector) and key `j`.
static Value applyChain(VectorBuilder &b, const ScoreChain &chain, bool masked,
                        Value score, Value i, Value j) {
  for (Operation *op : chain.ops) {
    if (auto map = dyn_cast<attn::MapOp>(op)) {
      score = b.splat(lowering::inlineRegion(b, map.getBody(), {score, i, j},
                                             *chain.outer, *chain.environment)
                          .front());
    } else if (auto mask = dyn_cast<attn::MaskOp>(op)) {
      if (!masked)
        continue;
      Value keep = lowering::inlineRegion(b, mask.getBody(), {i, j},
                                          *chain.outer, *chain.environment)
                       .front();
      score =
          arith::SelectOp::create(b, keep, score, b.f32Vector(minusInfinity));
    } else {
      auto type = cast<attn::CastOp>(op).getResult().getType().getElementType();
      score = b.roundTo(score, type);
    }
  }
  return score;
}

static Values emitPassOverKeys(VectorBuilder &b, const ScoreChain &chain,
                               bool masked, TransposedTile scores,
                               const ScorePlace &place, ValueRange max) {
  bool changes =
      !chain.ops.empty() &&
      (masked || !llvm::all_of(chain.ops, llvm::IsaPred<attn::MaskOp>));
  auto laneNumbers = llvm::to_vector(llvm::seq<int32_t>(0, b.lanes()));
  Value lane = arith::ConstantOp::create(
      b, DenseElementsAttr::get(b.vectorOf(b.getI32Type()),
                                ArrayRef(laneNumbers)));
  Values rows;
  for (int64_t v = 0; v < scores.vectors; ++v)
    rows.push_back(
        b.add(b.splat(b.add(place.firstRow, b.i32(v * b.lanes()))), lane));

  Values result =
      b.loop(b.i64(0), place.keys, 1, max, [&](Value key, ValueRange carried) {
        Value j = b.add(place.firstKey, b.toI32(key));
        Values larger;
        for (int64_t v = 0; v < scores.vectors; ++v) {
          Value address = scores.vectorAddress(b, key, v);
          Value score = b.loadVector(address, b.getF32Type());
          if (changes) {
            score = applyChain(b, chain, masked, score, rows[v], j);
            b.storeVector(score, address);
          }
          larger.push_back(b.maxOrSecond(score, carried[v]));
        }
        return larger;
      });
  hoistRowInvariants(result.front().getDefiningOp<scf::ForOp>());
  return result;
}

Values qm::cpu::emitScorePass(VectorBuilder &b, const ScoreChain &chain,
                              TransposedTile scores, const ScorePlace &place,
                              Value full, ValueRange max) {
  if (!full || !chain.hasMask())
    return emitPassOverKeys(b, chain, /*masked=*/true, scores, place, max);
  auto pass = [&](bool masked) {
    return emitPassOverKeys(b, chain, masked, scores, place, max);
  };
  return b.branch(
      full, max.getTypes(), [&] { return pass(false); },
      [&] { return pass(true); });
}

/// A row without a key so far has maximum -inf, which counts as 0 as a
/// reference: its exponents are then -inf, not NaN.
static Value finiteOrZero(VectorBuilder &b, Value max) {
  Value empty = arith::CmpFOp::create(b, arith::CmpFPredicate::OEQ, max,
                                      b.f32Vector(minusInfinity));
  return arith::SelectOp::create(b, empty, b.f32Vector(0.0f), max);
}

float qm::cpu::getExp2Scale(FloatAttr attribute) {
  return attribute ? attribute.getValue().convertToFloat()
                   : std::numbers::log2e_v<float>;
}

SoftmaxStep qm::cpu::emitProbabilityPass(VectorBuilder &b,
                                         TransposedTile scores, Value keys,
                                         ValueRange oldMax, ValueRange newMax,
                                         ValueRange oldSum, float exp2Scale,
                                         ArrayRef<Type> pTypes) {
  Value c = b.f32Vector(exp2Scale), zero = b.f32Vector(0.0f);
  SoftmaxStep step;
  Values minusMax;
  for (auto [before, after] : llvm::zip_equal(oldMax, newMax)) {
    Value finite = finiteOrZero(b, after);
    minusMax.push_back(arith::NegFOp::create(b, finite));
    Value change = arith::SubFOp::create(b, before, finite);
    step.alpha.push_back(emitExp2(b, arith::MulFOp::create(b, c, change)));
  }
  Values blockSum =
      b.loop(b.i64(0), keys, 1, Values(scores.vectors, zero),
             [&](Value key, ValueRange carried) {
               Values sums;
               for (int64_t v = 0; v < scores.vectors; ++v) {
                 Value address = scores.vectorAddress(b, key, v);
                 Value score = b.loadVector(address, b.getF32Type());
                 // Subtracted first: c s - c m in one fused step keeps the
                 // rounding error of c m, which is no longer small where
                 // scores are huge (a bias of -1e9 on a whole row).
                 Value below = arith::AddFOp::create(b, score, minusMax[v]);
                 Value p = emitExp2(b, arith::MulFOp::create(b, c, below));
                 sums.push_back(arith::AddFOp::create(b, carried[v], p));
                 for (Type type : pTypes)
                   p = b.roundTo(p, type);
                 b.storeVector(p, address);
               }
               return sums;
             });
  for (auto [sum, alpha, block] : llvm::zip_equal(oldSum, step.alpha, blockSum))
    step.sum.push_back(b.fma(sum, alpha, block));
  return step;
}

Value qm::cpu::emitLogSumExp(VectorBuilder &b, Value max, Value sum,
                             float exp2Scale) {
  // The same product c * max as in the exponents, so that its rounding cancels.
  Value scaled = arith::MulFOp::create(b, b.f32Vector(exp2Scale), max);
  Value log = math::LogOp::create(b, sum);
  Value lse = b.fma(scaled, b.f32Vector(std::numbers::ln2_v<float>), log);
  Value empty = arith::CmpFOp::create(b, arith::CmpFPredicate::OEQ, sum,
                                      b.f32Vector(0.0f));
  return arith::SelectOp::create(b, empty, b.f32Vector(minusInfinity), lse);
}

Value qm::cpu::emitNaturalMax(VectorBuilder &b, Value max, float exp2Scale) {
  double factor = double(exp2Scale) * std::numbers::ln2;
  return arith::MulFOp::create(b, max, b.f32Vector(float(factor)));
}

SinkStep qm::cpu::emitSink(VectorBuilder &b, Value max, Value sum,
                           float exp2Scale, Value sink) {
  Value own = arith::MulFOp::create(b, b.f32Vector(exp2Scale), max);
  Value other =
      arith::MulFOp::create(b, sink, b.f32Vector(std::numbers::log2e_v<float>));
  SinkStep step;
  step.max = finiteOrZero(b, b.maxOrSecond(own, other));
  auto weight = [&](Value logit) {
    return emitExp2(b, arith::SubFOp::create(b, logit, step.max));
  };
  step.alpha = weight(own);
  step.sum = b.fma(sum, step.alpha, weight(other));
  return step;
}
