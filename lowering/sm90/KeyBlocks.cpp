// The list of a query tile's key blocks.
#include "lowering/sm90/KeyBlocks.h"

#include "lowering/sm90/ExtremaTables.h"
#include "lowering/sm90/TileLoads.h"

using namespace mlir;
using namespace qm;
using namespace qm::sm90;
using attn::Extent;

static constexpr int64_t lanes = 32;

unsigned KeyBlockList::positionSize(KernelState &state) {
  return state.program.loop.getClassify().empty() ? 0 : 3;
}

/// An element-wise region for whole tiles: no argument is a row or a column.
static std::unique_ptr<gpu::ElementRegion>
tileRegion(KernelState &state, Tile &tile, Region &body) {
  constexpr unsigned none = ~0u;
  auto region = std::make_unique<gpu::ElementRegion>(
      body, gpu::ElementRegion::Roles{none, none}, state.arguments,
      tile.scalars, nullptr);
  region->setExtremaReader([&state](attn::ExtremaOp op, ValueRange indices) {
    return readExtremaTable(state, op, indices);
  });
  region->emitUniform(state.b);
  return region;
}

static Int lastRow(KernelState &state, Tile &tile) {
  return (tile.row + state.plan.tileM).min(state.extent(Extent::Query)) - 1;
}

KeyBounds KeyBounds::of(KernelState &state, Tile &tile) {
  LocBuilder &b = state.b;
  attn::KeyBlocksOp loop = state.program.loop;
  if (loop.getClassify().empty())
    return {};
  tile.enter(state);
  Int keys = state.extent(Extent::Key), zero = state.i32(0);
  auto blocks = [&](Int endKey) {
    return (endKey + (state.plan.tileN - 1)) / state.plan.tileN;
  };
  if (loop.getBounds().empty())
    return {zero, blocks(keys), {}};
  SmallVector<Value> range =
      tileRegion(state, tile, loop.getBounds())
          ->emit(b, {tile.row, lastRow(state, tile)}, 0, 0);
  // The last key may be the largest i32.
  Int endKey = (Int(b, range[1]).min(keys - 1) + 1).max(zero);
  return {Int(b, range[0]).max(zero) / state.plan.tileN, blocks(endKey),
          state.program.readsLengths() ? endKey : Int()};
}

unsigned KeyBounds::size(KernelState &state) {
  attn::KeyBlocksOp loop = state.program.loop;
  bool closed = !loop.getClassify().empty() && !loop.getBounds().empty();
  return closed ? 2 + state.program.readsLengths() : 0;
}

Values KeyBounds::flatten(KernelState &state) const {
  Values values{begin, end, lengthEnd};
  values.resize(size(state));
  return values;
}

KeyBounds KeyBounds::from(KernelState &state, ValueRange values) {
  LocBuilder &b = state.b;
  if (values.empty())
    return {};
  return {{b, values[0]},
          {b, values[1]},
          values.size() > 2 ? Int(b, values[2]) : Int()};
}

KeyBlockList::KeyBlockList(KernelState &state, Tile &tile, KeyBounds bounds)
    : state(state), tile(tile), alwaysMasked(state.program.hasMask()),
      bounds(bounds) {
  tile.enter(state);
  lastWhole = state.extent(Extent::Key) - state.plan.tileN;
  for (Operation *op : state.program.chain)
    if (auto map = dyn_cast<attn::MapOp>(op))
      TileLoads(state, map).narrow(tile, firstWhole, lastWhole);
  Region &classify = state.program.loop.getClassify();
  if (classify.empty())
    return;
  alwaysMasked = false;
  region = tileRegion(state, tile, classify);
  if (!bounds.end)
    this->bounds = KeyBounds::of(state, tile);
}

Int KeyBlockList::presentRows(KeyBlock block) {
  Int end = bounds.lengthEnd;
  if (!end && tile.sequence)
    end = tile.sequence->keys;
  return end ? end - block.firstKey : Int();
}

/// All keys of the block are there, and everything that is loaded for them.
Value KeyBlockList::isWhole(Int firstKey) {
  Value ends = firstKey.atMost(lastWhole);
  return firstWhole
             ? arith::AndIOp::create(state.b, ends, firstWhole.atMost(firstKey))
             : ends;
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
  tile.enter(state);
  if (!region) {
    position.clear();
    return orAbsent(nextOfAll(state.i32(0)));
  }
  // The chunk of 32 blocks after the last, with nothing left in it. Chunks are
  // counted from there: few tiles of a narrow mask have more than one.
  position = {bounds.end, state.i32(0), state.i32(0)};
  return orAbsent(nextClassified(position));
}

KeyBlock KeyBlockList::next(Position &position, KeyBlock current) {
  tile.enter(state);
  if (!region)
    return nextOfAll(current.firstKey + state.plan.tileN);
  return nextClassified(position);
}

/// Classifies blocks base + lane: the ballots of "needed" and of "full".
std::pair<Value, Value> KeyBlockList::classify(Int base) {
  LocBuilder &b = state.b;
  const Plan &plan = state.plan;
  Int keys = state.extent(Extent::Key);
  Int block = base + state.thread.lane;
  Int firstKey = block * plan.tileN;
  Int lastKey = (firstKey + plan.tileN).min(keys) - 1;
  SmallVector<Value> kinds = region->emit(
      b, {tile.row, lastRow(state, tile), firstKey, lastKey}, 0, 0);
  // Chunks end at the last block; the last one may go past the first.
  Value needed = arith::AndIOp::create(b, kinds[0], bounds.begin.atMost(block));
  Value full = arith::AndIOp::create(b, kinds[1], isWhole(firstKey));
  return {nvvm::ballot(b, needed), nvvm::ballot(b, full)};
}

KeyBlock KeyBlockList::nextClassified(Position &position) {
  LocBuilder &b = state.b;
  // Read on until a chunk has a needed block or there are no more chunks.
  position = emitWhile(
      b, position,
      [&](ValueRange values) -> Value {
        Int base(b, values[0]), needed(b, values[1]);
        return arith::AndIOp::create(b, needed.equals(0),
                                     bounds.begin.lessThan(base));
      },
      [&](ValueRange values) -> Values {
        Int base = Int(b, values[0]) - lanes;
        region->startBlock();
        auto [needed, full] = classify(base);
        return {base, needed, full};
      });
  Int base(b, position[0]), needed(b, position[1]), full(b, position[2]);
  // The highest bit that is set; where none is, which it is does not matter.
  Int bit = (state.i32(lanes - 1) -
             Int(b, math::CountLeadingZerosOp::create(b, needed))) &
            (lanes - 1);
  Int firstKey(b, arith::SelectOp::create(b, needed.equals(0), state.i32(-1),
                                          (base + bit) * state.plan.tileN));
  position[1] = needed & (state.i32(-1) ^ (state.i32(1) << bit));
  return {firstKey, ((full >> bit) & 1).equals(1)};
}
