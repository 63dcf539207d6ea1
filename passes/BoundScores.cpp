// fused -> fused: the bound of scores that cannot grow without end.
#include "lowering/common/FloatRange.h"
#include "passes/Passes.h"

using namespace mlir;
using namespace qm;

namespace qm::passes {
#define GEN_PASS_DEF_BOUNDSCORES
#include "passes/Passes.h.inc"
} // namespace qm::passes

namespace {

/// The map whose result, but for masked elements, the softmax reads.
attn::MapOp findMap(attn::OnlineSoftmaxOp softmax) {
  Value scores = softmax.getScores();
  while (auto mask = scores.getDefiningOp<attn::MaskOp>())
    scores = mask.getTile();
  return scores.getDefiningOp<attn::MapOp>();
}

struct BoundScores : qm::passes::impl::BoundScoresBase<BoundScores> {
  void runOnOperation() override {
    Builder builder(&getContext());
    getOperation().walk([&](attn::OnlineSoftmaxOp softmax) {
      attn::MapOp map = findMap(softmax);
      if (!map || softmax.getBound())
        return;
      Block &body = map.getBody().front();
      lowering::FloatRange range =
          lowering::FloatRanges(body).of(body.getTerminator()->getOperand(0));
      if (!range.isFinite() ||
          range.bound() > std::numeric_limits<float>::max())
        return;
      softmax.setBoundAttr(builder.getF32FloatAttr(float(range.bound())));
      ++numBounded;
    });
  }
};

} // namespace
