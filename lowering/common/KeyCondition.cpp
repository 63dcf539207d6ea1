// Which keys a mask leaves out for all queries alike.
#include "lowering/common/KeyCondition.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/IRMapping.h"

#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace qm;

namespace {

/// The operations of a mask that one of its predicates is computed by.
class Slice {
public:
  Slice(attn::MaskOp mask, Value predicate) : body(mask.getBody().front()) {
    SmallVector<Value> open{predicate};
    while (!open.empty()) {
      Value value = open.pop_back_val();
      if (value == body.getArgument(0))
        usesQuery = true;
      Operation *op = value.getDefiningOp();
      if (op && op->getBlock() == &body && operations.insert(op))
        llvm::append_range(open, op->getOperands());
    }
  }

  bool isPaddingCondition() const {
    return !usesQuery && llvm::any_of(operations, [&](Operation *op) {
      return isa<attn::LoadOp>(op) && usesKey(op);
    });
  }

  /// Clones them in their order.
  void clone(OpBuilder &b, IRMapping &mapping) const {
    for (Operation &op : body.without_terminator())
      if (operations.contains(&op) && !mapping.contains(op.getResult(0)))
        b.clone(op, mapping);
  }

private:
  bool usesKey(Operation *op) const {
    return llvm::any_of(op->getOperands(), [&](Value operand) {
      Operation *producer = operand.getDefiningOp();
      return operand == body.getArgument(1) ||
             (producer && operations.contains(producer) && usesKey(producer));
    });
  }

  Block &body;
  llvm::SetVector<Operation *> operations;
  bool usesQuery = false;
};

} // namespace

/// The predicates all of which the mask demands.
static SmallVector<Value> conjunctsOf(attn::MaskOp mask) {
  SmallVector<Value> open(
      mask.getBody().front().getTerminator()->getOperands()),
      result;
  while (!open.empty()) {
    Value value = open.pop_back_val();
    if (auto both = value.getDefiningOp<arith::AndIOp>())
      open.append({both.getLhs(), both.getRhs()});
    else
      result.push_back(value);
  }
  return result;
}

std::unique_ptr<Region> qm::lowering::conditionOnKeys(attn::KeyBlocksOp loop) {
  auto region = std::make_unique<Region>();
  OpBuilder b(loop.getContext());
  Block *block =
      b.createBlock(region.get(), {}, {b.getI32Type()}, {loop.getLoc()});
  Value all;
  for (auto mask : loop.getBody().front().getOps<attn::MaskOp>()) {
    IRMapping mapping;
    mapping.map(mask.getBody().front().getArgument(1), block->getArgument(0));
    for (Value condition : conjunctsOf(mask)) {
      Slice slice(mask, condition);
      if (!slice.isPaddingCondition())
        continue;
      slice.clone(b, mapping);
      Value cloned = mapping.lookup(condition);
      all = all ? arith::AndIOp::create(b, loop.getLoc(), all, cloned) : cloned;
    }
  }
  if (!all)
    return nullptr;
  attn::YieldOp::create(b, loop.getLoc(), all);
  return region;
}
