// tiled -> tiled: the mask evaluated on ranges becomes the classify region of
// the loop over key blocks.
#include "passes/Passes.h"
#include "passes/RegionIntervals.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace qm;
using namespace qm::passes;

namespace qm::passes {
#define GEN_PASS_DEF_LIFTMASK
#include "passes/Passes.h.inc"
} // namespace qm::passes

namespace {

struct LiftMask : qm::passes::impl::LiftMaskBase<LiftMask> {
  void runOnOperation() override {
    attn::KeyBlocksOp loop = getOperation().getKeyBlocks();
    SmallVector<attn::MaskOp> masks(loop.getBody().getOps<attn::MaskOp>());
    if (masks.empty() || !loop.getClassify().empty())
      return;
    OpBuilder builder(&getContext());
    Location loc = loop.getLoc();
    Type index = builder.getI32Type();
    Block *block = builder.createBlock(&loop.getClassify(), {},
                                       SmallVector<Type>(4, index),
                                       SmallVector<Location>(4, loc));
    IntervalBuilder intervals(builder, loc);
    // A chain of masks keeps what all of them keep.
    Interval kept = intervals.makePredicate(intervals.constantBool(true),
                                            intervals.constantBool(false));
    for (attn::MaskOp mask : masks) {
      RegionIntervals region(builder, mask.getLoc());
      kept = intervals.logicalAnd(
          kept,
          region.evaluate(mask, block->getArgument(0), block->getArgument(1),
                          block->getArgument(2), block->getArgument(3)));
      numUnknown += region.unknownOperations();
      ++numLifted;
    }
    Value all = arith::XOrIOp::create(builder, loc, kept.canFalse,
                                      intervals.constantBool(true));
    attn::YieldOp::create(builder, loc, ValueRange{kept.canTrue, all});
  }
};

} // namespace
