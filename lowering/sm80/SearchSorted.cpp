// attn.search by a warp.
#include "lowering/sm80/SearchSorted.h"

#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace qm;
using namespace qm::sm80;

static constexpr int64_t lanes = 32;
static constexpr int64_t none = int64_t(1) << 30; ///< no element qualifies

Value qm::sm80::emitSearch(LocBuilder &b, Arguments &arguments,
                           attn::SearchOp op, ValueRange indices, Value value) {
  Value buffer = op.getBuffer();
  Int extent = arguments.extent(buffer, indices.size());
  Int lane = Int(b, nvvm::readSpecial(b, nvvm::Special::ThreadX)) % lanes;
  Type i32 = b.getI32Type();
  SmallVector<Location> locations(2, b.getLoc());

  // The answer lies in [low, high]; `high` is the extent until an element
  // qualifies.
  auto loop =
      scf::WhileOp::create(b, TypeRange{i32, i32},
                           ValueRange{Int::constant(b, 0).get(), extent.get()});
  {
    OpBuilder::InsertionGuard guard(b);
    Block *before =
        b.createBlock(&loop.getBefore(), {}, TypeRange{i32, i32}, locations);
    Value more =
        Int(b, before->getArgument(0)).lessThan(Int(b, before->getArgument(1)));
    scf::ConditionOp::create(b, more, before->getArguments());

    Block *after =
        b.createBlock(&loop.getAfter(), {}, TypeRange{i32, i32}, locations);
    Int low(b, after->getArgument(0)), high(b, after->getArgument(1));
    // Lane n reads the last element of the n-th of 32 equal parts. Those before
    // the answer come first, so their number says which part has it.
    Int part = (high - low + (lanes - 1)) / lanes;
    Int probe = (low + lane * part + part - 1).min(high - 1);
    SmallVector<Value> at(indices);
    at.push_back(probe);
    Value element = arguments.loadClamped(buffer, at);
    if (!element.getType().isInteger(32))
      element = arith::ExtSIOp::create(b, i32, element);
    Value precedes = arith::CmpIOp::create(
        b,
        op.getAbove() ? arith::CmpIPredicate::sle : arith::CmpIPredicate::slt,
        element, value);
    Int count(b, math::CtPopOp::create(b, nvvm::ballot(b, precedes)));
    Int newLow = (low + count * part).min(high);
    Int newHigh = (newLow + part - 1).min(high);
    scf::YieldOp::create(b, ValueRange{newLow.get(), newHigh.get()});
  }
  Int found(b, loop.getResult(0));
  return arith::SelectOp::create(b, found.lessThan(extent), found,
                                 Int::constant(b, none));
}
