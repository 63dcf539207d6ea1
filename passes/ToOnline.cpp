// spec -> online: attn.attention becomes attn.online and attn.normalize_rows.
#include "passes/Passes.h"

#include "mlir/IR/PatternMatch.h"

using namespace mlir;
using namespace qm;

namespace qm::passes {
#define GEN_PASS_DEF_TOONLINE
#include "passes/Passes.h.inc"
} // namespace qm::passes

namespace {

struct ToOnline : qm::passes::impl::ToOnlineBase<ToOnline> {
  void runOnOperation() override {
    IRRewriter rewriter(&getContext());
    SmallVector<attn::AttentionOp> ops(
        getOperation().getOps<attn::AttentionOp>());
    for (attn::AttentionOp op : ops) {
      rewrite(rewriter, op);
      ++numRewritten;
    }
  }

  static void rewrite(IRRewriter &rewriter, attn::AttentionOp op) {
    rewriter.setInsertionPoint(op);
    Location loc = op.getLoc();
    Type f32 = rewriter.getF32Type();
    ArrayRef<int64_t> rows = op.getQ().getType().getShape().drop_back();
    auto statistic = RankedTensorType::get(rows, f32);
    auto accumulator =
        RankedTensorType::get(op.getO().getType().getShape(), f32);
    auto online = attn::OnlineOp::create(
        rewriter, loc, TypeRange{accumulator, statistic, statistic}, op.getQ(),
        op.getK(), op.getV(), op.getLengths(), op.getPackedAttr(),
        rewriter.getF32FloatAttr(op.getScaleOrDefault()));
    online.getScore().takeBody(op.getScore());
    online.getMask().takeBody(op.getMask());
    auto normalized = attn::NormalizeRowsOp::create(
        rewriter, loc, op->getResultTypes(), online.getAcc(), online.getMax(),
        online.getSum(), op.getRowMaxAttr());
    normalized.getSink().takeBody(op.getSink());
    rewriter.replaceOp(op, normalized);
  }
};

} // namespace
