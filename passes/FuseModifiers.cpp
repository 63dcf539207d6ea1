// tiled -> fused: one element-wise chain a block, its constant factor in the
// exponent, base 2.
#include "passes/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Matchers.h"

#include <cmath>
#include <numbers>

using namespace mlir;
using namespace qm;

namespace qm::passes {
#define GEN_PASS_DEF_FUSEMODIFIERS
#include "passes/Passes.h.inc"
} // namespace qm::passes

namespace {

/// Exponent scales outside this range could leave f32's normal numbers; such
/// factors stay in the chain.
constexpr double smallestScale = 1e-30, largestScale = 1e30;

/// Puts the body of `first` in front of the body of `second`, which reads it.
void merge(attn::MapOp first, attn::MapOp second) {
  Block &from = first.getBody().front(), &into = second.getBody().front();
  Value yielded = from.getTerminator()->getOperand(0);
  from.getTerminator()->erase();
  // Query and key index mean the same in both.
  from.getArgument(1).replaceAllUsesWith(into.getArgument(1));
  from.getArgument(2).replaceAllUsesWith(into.getArgument(2));
  Value score = into.getArgument(0);
  if (yielded == from.getArgument(0)) {
    // An identity: the second map reads what the first read.
  } else {
    score.replaceAllUsesWith(yielded);
  }
  from.getArgument(0).replaceAllUsesWith(score);
  into.getOperations().splice(into.begin(), from.getOperations());
  second.getTileMutable().assign(first.getTile());
  first.erase();
}

/// Takes a positive constant factor off the end of the chain; 1 if there is
/// none.
double takeFactor(attn::MapOp map) {
  double taken = 1;
  Operation *yield = map.getBody().front().getTerminator();
  while (auto product = yield->getOperand(0).getDefiningOp<arith::MulFOp>()) {
    FloatAttr constant;
    Value rest;
    if (matchPattern(product.getRhs(), m_Constant(&constant)))
      rest = product.getLhs();
    else if (matchPattern(product.getLhs(), m_Constant(&constant)))
      rest = product.getRhs();
    else
      break;
    double factor = constant.getValueAsDouble();
    double scale = taken * factor * std::numbers::log2e;
    if (!(scale >= smallestScale && scale <= largestScale))
      break;
    taken *= factor;
    yield->setOperand(0, rest);
    if (product.use_empty())
      product.erase();
  }
  return taken;
}

bool isIdentity(attn::MapOp map) {
  Block &body = map.getBody().front();
  return body.getTerminator()->getOperand(0) == body.getArgument(0);
}

struct FuseModifiers : qm::passes::impl::FuseModifiersBase<FuseModifiers> {
  void runOnOperation() override {
    attn::KernelOp kernel = getOperation();
    attn::KeyBlocksOp loop = kernel.getKeyBlocks();
    mergeMaps(loop);
    auto softmaxes =
        llvm::to_vector(loop.getBody().getOps<attn::OnlineSoftmaxOp>());
    Builder builder(&getContext());
    for (attn::OnlineSoftmaxOp softmax : softmaxes) {
      if (softmax.getExp2Scale())
        continue;
      double factor = absorbFactor(softmax);
      FloatAttr scale = builder.getF32FloatAttr(factor * std::numbers::log2e);
      softmax.setExp2ScaleAttr(scale);
      // The maximum that leaves the loop is in the units of the scores.
      for (attn::NormalizeOp normalize :
           kernel.getBody().front().getOps<attn::NormalizeOp>())
        normalize.setExp2ScaleAttr(scale);
    }
  }

private:
  void mergeMaps(attn::KeyBlocksOp loop) {
    for (auto map :
         llvm::make_early_inc_range(loop.getBody().getOps<attn::MapOp>())) {
      auto first = map.getTile().getDefiningOp<attn::MapOp>();
      if (!first || !first->hasOneUse())
        continue;
      merge(first, map);
      ++numFused;
    }
  }

  /// The factor at the end of the map that the softmax reads, through masks:
  /// -inf times it is -inf.
  double absorbFactor(attn::OnlineSoftmaxOp softmax) {
    Value scores = softmax.getScores();
    while (auto mask = scores.getDefiningOp<attn::MaskOp>()) {
      if (!mask->hasOneUse())
        return 1;
      scores = mask.getTile();
    }
    auto map = scores.getDefiningOp<attn::MapOp>();
    if (!map || !map->hasOneUse())
      return 1;
    double factor = takeFactor(map);
    if (isIdentity(map)) {
      map.getResult().replaceAllUsesWith(map.getTile());
      map.erase();
      ++numFused;
    }
    return factor;
  }
};

} // namespace
