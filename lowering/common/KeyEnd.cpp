// What the end of a key loop's bounds means.
#include "lowering/common/KeyEnd.h"

#include "dialect/AttnOps.h"

#include "llvm/ADT/SmallPtrSet.h"

using namespace mlir;
using namespace qm;

bool qm::lowering::endsAtLength(Region &bounds) {
  SmallVector<Value> open{bounds.front().getTerminator()->getOperand(1)};
  llvm::SmallPtrSet<Operation *, 16> seen;
  while (!open.empty()) {
    Operation *op = open.pop_back_val().getDefiningOp();
    if (!op || isa<attn::SearchOp>(op) || !seen.insert(op).second)
      continue;
    if (isa<attn::LoadOp>(op))
      return true;
    llvm::append_range(open, op->getOperands());
  }
  return false;
}
