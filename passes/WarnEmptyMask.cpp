// spec -> spec: a warning where a mask keeps nothing.
#include "dialect/Diagnostics.h"
#include "passes/Contradiction.h"
#include "passes/Passes.h"

using namespace mlir;
using namespace qm;
using diag::Id;

namespace qm::passes {
#define GEN_PASS_DEF_WARNEMPTYMASK
#include "passes/Passes.h.inc"
} // namespace qm::passes

namespace {

struct WarnEmptyMask : qm::passes::impl::WarnEmptyMaskBase<WarnEmptyMask> {
  void runOnOperation() override {
    for (attn::AttentionOp op : getOperation().getOps<attn::AttentionOp>()) {
      Region &mask = op.getMask();
      if (!passes::keepsNothing(mask))
        continue;
      (void)diag::help(
          diag::warning(mask.front().getTerminator()->getLoc(),
                        Id::MaskKeepsNothing)
              << "this mask keeps no pair: its conditions exclude each other",
          "every row is O = 0; combine masks of which one has to hold with ||");
    }
  }
};

} // namespace
