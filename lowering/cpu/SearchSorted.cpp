//===- SearchSorted.cpp - where a value belongs in a buffer ---------------===//

#include "lowering/cpu/SearchSorted.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace qm;
using namespace qm::cpu;
using arith::CmpIPredicate;

static constexpr int64_t none = int64_t(1) << 30; ///< no element qualifies

Value qm::cpu::emitSearch(VectorBuilder &b, attn::SearchOp op,
                          const TensorSlots &buffer, ArrayRef<Value> indices,
                          Value value) {
  Type i64 = b.getI64Type();
  Value extent = buffer.extents.back();
  Value zero = b.i64(0), one = b.i64(1);
  Location loc = b.getLoc();
  // The answer lies in [low, high]; `high` is the extent until an element
  // qualifies.
  auto loop =
      scf::WhileOp::create(b, TypeRange{i64, i64}, ValueRange{zero, extent});
  {
    OpBuilder::InsertionGuard guard(b);
    Block *before =
        b.createBlock(&loop.getBefore(), {}, TypeRange{i64, i64}, {loc, loc});
    Value more = arith::CmpIOp::create(
        b, CmpIPredicate::slt, before->getArgument(0), before->getArgument(1));
    scf::ConditionOp::create(b, more, before->getArguments());
    Block *after =
        b.createBlock(&loop.getAfter(), {}, TypeRange{i64, i64}, {loc, loc});
    Value low = after->getArgument(0), high = after->getArgument(1);
    Value middle = arith::ShRUIOp::create(b, b.add(low, high), one);
    SmallVector<Value> at(indices);
    at.push_back(b.toI32(middle));
    Value element = emitCapturedLoad(b, buffer, at);
    if (!element.getType().isInteger(32))
      element = arith::ExtSIOp::create(b, b.getI32Type(), element);
    Value precedes = arith::CmpIOp::create(
        b, op.getAbove() ? CmpIPredicate::sle : CmpIPredicate::slt, element,
        value);
    Value newLow =
        arith::SelectOp::create(b, precedes, b.add(middle, one), low);
    Value newHigh = arith::SelectOp::create(b, precedes, high, middle);
    scf::YieldOp::create(b, ValueRange{newLow, newHigh});
  }
  Value found = loop.getResult(0);
  Value absent = arith::CmpIOp::create(b, CmpIPredicate::sge, found, extent);
  return b.toI32(arith::SelectOp::create(b, absent, b.i64(none), found));
}
