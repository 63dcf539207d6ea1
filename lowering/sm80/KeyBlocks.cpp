// The work list of a query tile.
#include "lowering/sm80/KeyBlocks.h"

#include "lowering/common/KeyEnd.h"
#include "lowering/sm80/PaddingKeys.h"

#include "mlir/Dialect/Math/IR/Math.h"

#include "mlir/IR/Matchers.h"

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
  state.padding =
      PaddingKeys::of(state.b, loop, state.arguments, state.scalars);
  if (loop.getClassify().empty())
    return;
  alwaysMasked = false;
  constexpr unsigned none = ~0u;
  auto make = [&](Region &body) {
    auto result = std::make_unique<ElementRegion>(
        body, ElementRegion::Roles{none, none}, state.arguments, state.scalars,
        nullptr);
    result->emitUniform(state.b);
    return result;
  };
  region = make(loop.getClassify());
  if (!loop.getBounds().empty()) {
    bounds = make(loop.getBounds());
    readsLengths = lowering::endsAtLength(loop.getBounds());
  }
}

std::pair<Int, Int> KeyBlockList::rows() {
  Int first = state.tile.row;
  Int queries = state.arguments.extentOfCall(attn::Extent::Query);
  return {first, (first + state.plan.tileM).min(queries) - 1};
}

SmallVector<Value> KeyBlockList::start() {
  LocBuilder &b = state.b;
  if (!region)
    return {};
  Int zero = Int::constant(b, 0);
  Int firstKey = zero;
  Int endKey = state.arguments.extentOfCall(attn::Extent::Key);
  if (bounds) {
    auto [firstRow, lastRow] = rows();
    SmallVector<Value> range = bounds->emit(b, {firstRow, lastRow}, 0, 0);
    firstKey = Int(b, range[0]).max(zero);
    // The last key may be the largest i32.
    endKey = (Int(b, range[1]).min(endKey - 1) + 1).max(zero);
    if (readsLengths)
      state.keyEnd = endKey;
  }
  begin = firstKey / state.plan.tileN;
  end = (endKey + (state.plan.tileN - 1)) / state.plan.tileN;
  return {Int::constant(b, 0), Int::constant(b, 0)};
}

Value KeyBlockList::isWhole(Int firstKey) const {
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
  // Read again, here and below: it need not live through the products.
  Int lane = readThread(b, /*again=*/true).lane;
  Int firstKey = (base + lane) * plan.tileN;
  Int lastKey = (firstKey + plan.tileN).min(keys) - 1;
  auto [firstRow, lastRow] = rows();
  SmallVector<Value> kinds =
      region->emit(b, {firstRow, lastRow, firstKey, lastKey}, 0, 0);
  Value exists = (base + lane).lessThan(end);
  Value needed = arith::AndIOp::create(b, kinds[0], exists);
  Value whole = arith::AndIOp::create(b, isWhole(firstKey), needed);
  Value full = arith::AndIOp::create(b, kinds[1], whole);
  return {nvvm::ballot(b, needed), nvvm::ballot(b, full)};
}

KeyBlock KeyBlockList::last() {
  LocBuilder &b = state.b;
  Int keys = state.arguments.extentOfCall(attn::Extent::Key);
  Int before = (keys - 1).max(Int::constant(b, 0)) / state.plan.tileN;
  Int firstKey = before * state.plan.tileN;
  return {firstKey, isWhole(firstKey)};
}

Value KeyBlockList::seenByWarp(const KeyBlock &block) {
  LocBuilder &b = state.b;
  const Plan &plan = state.plan;
  if (!region)
    return {};
  Thread thread = readThread(b, /*again=*/true);
  thread.warp = {b, nvvm::broadcastLane0(b, thread.warp)};
  Int firstRow = state.tile.row + state.rowWarp(thread) * plan.warpRows();
  Int lastRow = (firstRow + plan.warpRows())
                    .min(state.arguments.extentOfCall(attn::Extent::Query)) -
                1;
  Int lastKey = (block.firstKey + plan.tileN)
                    .min(state.arguments.extentOfCall(attn::Extent::Key)) -
                1;
  // Extrema are not read here, once more for every warp and block: that would
  // take registers while the accumulator and the next block's place are live,
  // and memory's latency twice ahead of the products. Any element is possible.
  region->setExtremaReader([&b](attn::ExtremaOp op, ValueRange) {
    return std::pair<Value, Value>(Int::constant(b, op.getTypeMinimum()),
                                   Int::constant(b, op.getTypeMaximum()));
  });
  Value any =
      region->emit(b, {firstRow, lastRow, block.firstKey, lastKey}, 0, 0)[0];
  region->setExtremaReader({});
  if (matchPattern(any, m_One()))
    return {};
  return arith::OrIOp::create(b, any, block.full);
}

KeyBlock KeyBlockList::next(const KeyBlock *previous,
                            SmallVectorImpl<Value> &position) {
  if (!region)
    return following(previous);
  LocBuilder &b = state.b;

  // The chunk of 32 blocks that the previous one is of; before the first block,
  // the chunk before the first, with nothing left in it.
  Int chunk = (previous ? previous->firstKey / state.plan.tileN : begin) &
              int64_t(-lanes);
  if (!previous)
    chunk = chunk - lanes;
  // Read on until a chunk has a needed block or there are no more chunks.
  Values found = emitWhile(
      b, {chunk, position[0], position[1]},
      [&](ValueRange carried) -> Value {
        Int base(b, carried[0]), needed(b, carried[1]);
        Value more = (base + lanes).lessThan(end);
        return arith::AndIOp::create(b, needed.equals(0), more);
      },
      [&](ValueRange carried) {
        Int next = Int(b, carried[0]) + lanes;
        auto [needed, full] = classify(next);
        return Values{next, needed, full};
      });
  Int base(b, found[0]), needed(b, found[1]), full(b, found[2]);

  Int bit(b, math::CountTrailingZerosOp::create(b, needed)); // 32 if none
  Value exists = arith::CmpIOp::create(b, arith::CmpIPredicate::ne, needed,
                                       Int::constant(b, 0));
  Int firstKey(b, arith::SelectOp::create(b, exists,
                                          (base + bit) * state.plan.tileN,
                                          Int::constant(b, noBlock)));
  Int fullBit = (full >> (bit & 31)) & 1;
  position[0] = needed & (needed - 1);
  position[1] = full;
  return {firstKey, fullBit.equals(1)};
}

Int KeyBlockList::lastOfRun(const KeyBlock &block,
                            ArrayRef<Value> position) const {
  LocBuilder &b = state.b;
  int64_t tileN = state.plan.tileN;
  if (!region) {
    Int keys = state.arguments.extentOfCall(attn::Extent::Key);
    return ((keys / tileN - 1) * tileN).max(block.firstKey);
  }
  // Blocks of the chunk after this one that are needed and full: a run of ones
  // from bit 0 on. The highest bit is 0.
  Int bit = block.firstKey / tileN % lanes;
  Int after = ((Int(b, position[0]) & Int(b, position[1])) >> bit) >> 1;
  Int count(b, math::CountTrailingZerosOp::create(b, after ^ int64_t(-1)));
  Int last = block.firstKey + count * tileN;
  return {b, arith::SelectOp::create(b, block.full, last, block.firstKey)};
}

KeyBlock KeyBlockList::nextOfRun(const KeyBlock &block) const {
  LocBuilder &b = state.b;
  // Opaque: LLVM would make induction variables of the addresses.
  return {{b, nvvm::opaqueAdd(b, block.firstKey,
                              Int::constant(b, state.plan.tileN))},
          arith::ConstantIntOp::create(b, b.getI1Type(), 1)};
}

void KeyBlockList::endRun(KeyBlock &block,
                          SmallVectorImpl<Value> &position) const {
  LocBuilder &b = state.b;
  if (!region) {
    block.full = isWhole(block.firstKey);
    return;
  }
  Int bit = block.firstKey / state.plan.tileN % lanes;
  block.full = ((Int(b, position[1]) >> bit) & 1).equals(1);
  position[0] = Int(b, position[0]) & (Int::constant(b, -2) << bit);
}
