// The list of a query tile's key blocks.
#include "lowering/sm90/KeyBlocks.h"

using namespace mlir;
using namespace qm;
using namespace qm::sm90;
using attn::Extent;

static constexpr int64_t lanes = 32;

unsigned KeyBlockList::positionSize(KernelState &state) {
  return state.program.loop.getClassify().empty() ? 0 : 3;
}

KeyBlockList::KeyBlockList(KernelState &state, Tile &tile)
    : state(state), tile(tile), alwaysMasked(state.program.hasMask()) {
  Region &classify = state.program.loop.getClassify();
  if (classify.empty())
    return;
  alwaysMasked = false;
  constexpr unsigned none = ~0u;
  region = std::make_unique<sm80::ElementRegion>(
      classify, sm80::ElementRegion::Roles{none, none}, state.arguments,
      tile.scalars, nullptr);
  region->emitUniform(state.b);
}

/// All keys of the block are there.
Value KeyBlockList::isWhole(Int firstKey) {
  return firstKey.atMost(state.extent(Extent::Key) - state.plan.tileN);
}

KeyBlock KeyBlockList::orAbsent(KeyBlock block) {
  LocBuilder &b = state.b;
  Value exists = block.exists(state);
  Int keys = state.extent(Extent::Key);
  // Past the last block, and past key 0 where there is none.
  Int absent = (keys + state.plan.tileN) / state.plan.tileN * state.plan.tileN;
  return {{b, arith::SelectOp::create(b, exists, block.firstKey, absent)},
          arith::AndIOp::create(b, exists, block.full)};
}

KeyBlock KeyBlockList::nextOfAll(Int firstKey) {
  LocBuilder &b = state.b;
  Value exists = firstKey.lessThan(state.extent(Extent::Key));
  return {{b, arith::SelectOp::create(b, exists, firstKey, state.i32(-1))},
          alwaysMasked ? state.boolean(false) : isWhole(firstKey)};
}

KeyBlock KeyBlockList::first(Position &position) {
  if (!region) {
    position.clear();
    return orAbsent(nextOfAll(state.i32(0)));
  }
  // The chunk of 32 blocks before the first, with nothing left in it.
  position = {state.i32(-lanes), state.i32(0), state.i32(0)};
  return orAbsent(nextClassified(position));
}

KeyBlock KeyBlockList::next(Position &position, KeyBlock current) {
  if (!region)
    return nextOfAll(current.firstKey + state.plan.tileN);
  return nextClassified(position);
}

/// Classifies blocks base + lane: the ballots of "needed" and of "full".
std::pair<Value, Value> KeyBlockList::classify(Int base) {
  LocBuilder &b = state.b;
  const Plan &plan = state.plan;
  Int keys = state.extent(Extent::Key);
  Int queries = state.extent(Extent::Query);
  Int firstKey = (base + state.thread.lane) * plan.tileN;
  Int lastKey = (firstKey + plan.tileN).min(keys) - 1;
  Int lastRow = (tile.row + plan.tileM).min(queries) - 1;
  SmallVector<Value> kinds =
      region->emit(b, {tile.row, lastRow, firstKey, lastKey}, 0, 0);
  Value needed = arith::AndIOp::create(b, kinds[0], firstKey.lessThan(keys));
  Value full = arith::AndIOp::create(b, kinds[1], isWhole(firstKey));
  return {nvvm::ballot(b, needed), nvvm::ballot(b, full)};
}

KeyBlock KeyBlockList::nextClassified(Position &position) {
  LocBuilder &b = state.b;
  Int keys = state.extent(Extent::Key);
  // Read on until a chunk has a needed block or there are no more chunks.
  position = emitWhile(
      b, position,
      [&](ValueRange values) -> Value {
        Int base(b, values[0]), needed(b, values[1]);
        Value more = ((base + lanes) * state.plan.tileN).lessThan(keys);
        return arith::AndIOp::create(b, needed.equals(0), more);
      },
      [&](ValueRange values) -> Values {
        Int base = Int(b, values[0]) + lanes;
        region->startBlock();
        auto [needed, full] = classify(base);
        return {base, needed, full};
      });
  Int base(b, position[0]), needed(b, position[1]), full(b, position[2]);
  Int bit(b, math::CountTrailingZerosOp::create(b, needed)); // 32 if none
  Int firstKey(b, arith::SelectOp::create(b, needed.equals(0), state.i32(-1),
                                          (base + bit) * state.plan.tileN));
  position[1] = needed & (needed - 1);
  return {firstKey, ((full >> (bit & 31)) & 1).equals(1)};
}
