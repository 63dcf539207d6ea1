// The work list of a query tile.
#include "lowering/sm80/KeyBlocks.h"

#include <limits>

using namespace mlir;
using namespace qm;
using namespace qm::sm80;

static constexpr int64_t lanes = 32;
/// Past every key, and far enough from the largest i32 that rows of such a
/// block can be counted on.
static constexpr int64_t noBlock = std::numeric_limits<int32_t>::max() - 1023;

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
    return {};
  return {Int::constant(b, 0), Int::constant(b, 0)};
}

Value KeyBlockList::isWhole(Int firstKey) {
  Int keys = state.arguments.extentOfCall(attn::Extent::Key);
  return firstKey.atMost(keys - state.plan.tileN);
}

KeyBlock KeyBlockList::following(const KeyBlock *previous) {
  LocBuilder &b = state.b;
  // Opaque: LLVM would make induction variables of the addresses.
  Int firstKey = Int::constant(b, 0);
  if (previous)
    firstKey = {b, nvvm::opaqueAdd(b, previous->firstKey,
                                   Int::constant(b, state.plan.tileN))};
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

KeyBlock KeyBlockList::next(const KeyBlock *previous,
                            SmallVectorImpl<Value> &position) {
  if (!region)
    return following(previous);
  LocBuilder &b = state.b;
  Int keys = state.arguments.extentOfCall(attn::Extent::Key);
  Type i32 = b.getI32Type();

  // The chunk of 32 blocks that the previous one is of; before the first block,
  // the chunk before the first, with nothing left in it.
  Int chunk = previous ? previous->firstKey / state.plan.tileN & int64_t(-lanes)
                       : Int::constant(b, -lanes);
  SmallVector<Value> inits{chunk, position[0], position[1]};
  // Read on until a chunk has a needed block or there are no more chunks.
  auto loop =
      scf::WhileOp::create(b, TypeRange{i32, i32, i32}, ValueRange(inits));
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
  position[0] = needed & (needed - 1);
  position[1] = full;
  return {firstKey, fullBit.equals(1)};
}
