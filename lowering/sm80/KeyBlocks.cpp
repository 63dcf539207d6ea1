// The work list of a query tile.
#include "lowering/sm80/KeyBlocks.h"

#include <limits>

using namespace mlir;
using namespace qm;
using namespace qm::sm80;

static constexpr int64_t lanes = 32;
static constexpr int64_t noBlock = std::numeric_limits<int32_t>::max();

KeyBlockList::KeyBlockList(KernelState &state, attn::KeyBlocksOp loop)
    : state(state),
      alwaysMasked(!loop.getBody().front().getOps<attn::MaskOp>().empty()) {
  if (loop.getClassify().empty())
    return;
  alwaysMasked = false;
  constexpr unsigned none = ~0u;
  region = std::make_unique<ElementRegion>(
      loop.getClassify(), ElementRegion::Roles{none, none}, state.arguments,
      state.scalars, nullptr);
  region->emitUniform(state.b);
}

SmallVector<Value> KeyBlockList::start() {
  LocBuilder &b = state.b;
  if (!region)
    return {Int::constant(b, 0)};
  // The chunk of 32 blocks before the first, with nothing left in it.
  return {Int::constant(b, -lanes), Int::constant(b, 0), Int::constant(b, 0)};
}

Value KeyBlockList::isWhole(Int firstKey) {
  Int keys = state.arguments.extentOfCall(attn::Extent::Key);
  return firstKey.atMost(keys - state.plan.tileN);
}

KeyBlock KeyBlockList::nextOfAll(SmallVectorImpl<Value> &position) {
  LocBuilder &b = state.b;
  Int firstKey(b, position[0]);
  position[0] =
      nvvm::opaqueAdd(b, firstKey, Int::constant(b, state.plan.tileN));
  if (alwaysMasked)
    return {firstKey, arith::ConstantIntOp::create(b, b.getI1Type(), 0)};
  return {firstKey, isWhole(firstKey)};
}

std::pair<Value, Value> KeyBlockList::classify(Int base) {
  LocBuilder &b = state.b;
  const Plan &plan = state.plan;
  Int keys = state.arguments.extentOfCall(attn::Extent::Key);
  Int queries = state.arguments.extentOfCall(attn::Extent::Query);
  Int firstKey = (base + state.thread.lane) * plan.tileN;
  Int lastKey = (firstKey + plan.tileN).min(keys) - 1;
  Int firstRow = state.tile.row;
  Int lastRow = (firstRow + plan.tileM).min(queries) - 1;
  SmallVector<Value> kinds =
      region->emit(b, {firstRow, lastRow, firstKey, lastKey}, 0, 0);
  Value exists = firstKey.lessThan(keys);
  Value needed = arith::AndIOp::create(b, kinds[0], exists);
  Value full = arith::AndIOp::create(b, kinds[1], isWhole(firstKey));
  return {nvvm::ballot(b, needed), nvvm::ballot(b, full)};
}

KeyBlock KeyBlockList::next(SmallVectorImpl<Value> &position) {
  if (!region)
    return nextOfAll(position);
  LocBuilder &b = state.b;
  Int keys = state.arguments.extentOfCall(attn::Extent::Key);
  Type i32 = b.getI32Type();

  // Read on until a chunk has a needed block or there are no more chunks.
  auto loop =
      scf::WhileOp::create(b, TypeRange{i32, i32, i32}, ValueRange(position));
  {
    OpBuilder::InsertionGuard guard(b);
    SmallVector<Location> locations(3, b.getLoc());
    Block *before = b.createBlock(&loop.getBefore(), {},
                                  TypeRange{i32, i32, i32}, locations);
    Int base(b, before->getArgument(0)), needed(b, before->getArgument(1));
    Value more = ((base + lanes) * state.plan.tileN).lessThan(keys);
    scf::ConditionOp::create(b,
                             arith::AndIOp::create(b, needed.equals(0), more),
                             before->getArguments());
    Block *after = b.createBlock(&loop.getAfter(), {}, TypeRange{i32, i32, i32},
                                 locations);
    Int nextBase = Int(b, after->getArgument(0)) + lanes;
    auto [neededMask, fullMask] = classify(nextBase);
    scf::YieldOp::create(b, ValueRange{nextBase, neededMask, fullMask});
  }
  Int base(b, loop.getResult(0)), needed(b, loop.getResult(1)),
      full(b, loop.getResult(2));

  Int bit(b, math::CountTrailingZerosOp::create(b, needed)); // 32 if none
  Value found = arith::CmpIOp::create(b, arith::CmpIPredicate::ne, needed,
                                      Int::constant(b, 0));
  Int firstKey(b, arith::SelectOp::create(b, found,
                                          (base + bit) * state.plan.tileN,
                                          Int::constant(b, noBlock)));
  Int fullBit = (full >> (bit & 31)) & 1;
  position[0] = base;
  position[1] = needed & (needed - 1);
  position[2] = full;
  return {firstKey, fullBit.equals(1)};
}
