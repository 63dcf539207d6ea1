// Order of query tiles.
#include "lowering/sm90/TileOrder.h"

#include "lowering/gpu/Sequences.h"
#include "lowering/gpu/TileSections.h"

using namespace mlir;
using namespace qm;
using namespace qm::sm90;
using attn::Extent;

/// Keys and values of a section should stay in L2 (50 MB on an H100) beside
/// what else passes through.
static constexpr int64_t sectionKilobytes = 32 << 10;

Int TileOrder::tilesOfHead() {
  if (state.arguments.isPacked())
    return state.extent(Extent::Query) / state.plan.tileM +
           state.extent(Extent::Batch);
  return (state.extent(Extent::Query) + (state.plan.tileM - 1)) /
         state.plan.tileM;
}

Int TileOrder::first() {
  return {state.b, nvvm::readSpecial(state.b, nvvm::Special::BlockX)};
}

Int TileOrder::next(Int index) {
  return index + Int(state.b, nvvm::gridSize(state.b));
}

/// Batch entries of the tensors.
Int TileOrder::entries() {
  return state.arguments.isPacked() ? state.i32(1)
                                    : state.extent(Extent::Batch);
}

Value TileOrder::exists(Int index) {
  state.arguments.leave();
  return index.lessThan(tilesOfHead() * state.extent(Extent::Heads) *
                        entries());
}

/// The sequence of a tile, whose number among those of a head becomes one of
/// the sequence. What a tile without rows would read is not read.
gpu::Sequence TileOrder::sequenceOf(Int &batch, Int &tile) {
  LocBuilder &b = state.b;
  if (state.arguments.isPacked())
    batch = gpu::findSequence(b, state.arguments, state.thread.lane, tile,
                              state.plan.tileM);
  gpu::Sequence sequence = gpu::readSequence(b, state.arguments, batch);
  Value hasRows = (tile * state.plan.tileM).lessThan(sequence.queries);
  sequence.keys = {
      b, arith::SelectOp::create(b, hasRows, sequence.keys, state.i32(0))};
  // Past the end tensor copies write zeros.
  sequence.firstKey = {b, arith::SelectOp::create(b, sequence.keys.equals(0),
                                                  state.extent(Extent::Key),
                                                  sequence.firstKey)};
  return sequence;
}

TilePlace TileOrder::place(Int index) {
  state.arguments.leave();
  if (state.arguments.isPacked()) {
    gpu::PackedPlace packed =
        gpu::placePacked(state.b, state.arguments, index, state.plan.tileM,
                         2 * (state.plan.headDim + state.plan.valueDim),
                         state.program.longestFirst());
    TilePlace place{{}, packed.head, {}, {}};
    place.sequence = sequenceOf(place.batch, packed.tile);
    place.row = packed.tile * state.plan.tileM;
    return place;
  }
  Int heads = state.extent(Extent::Heads), tiles = tilesOfHead();
  Int sequence, tile; // sequence: batch * heads + head
  if (!state.program.longestFirst()) {
    sequence = index / tiles;
    tile = index - sequence * tiles;
  } else {
    int64_t rowBytes = 2 * (state.plan.headDim + state.plan.valueDim);
    Int group = heads / state.extent(Extent::KvHeads);
    Int kilobytes =
        (state.extent(Extent::Key) / 64 * (64 * rowBytes / 1024) / group)
            .max(state.i32(1));
    Int sequences = heads * state.extent(Extent::Batch);
    Int most = (state.i32(sectionKilobytes) / kilobytes)
                   .max(state.i32(1))
                   .min(sequences);
    gpu::DensePlace dense =
        gpu::placeInSections(state.b, index, tiles, sequences, most,
                             gpu::leavesKeysBehind(state.program.loop));
    sequence = dense.sequence;
    tile = dense.tile;
  }
  Int batch = sequence / heads;
  TilePlace place{batch, sequence - batch * heads, {}, {}};
  if (state.plan.hasLengths)
    place.sequence = sequenceOf(place.batch, tile);
  place.row = tile * state.plan.tileM;
  return place;
}

//===----------------------------------------------------------------------===//
// The order at run time
//===----------------------------------------------------------------------===//

/// A counter: the next number, then the CTAs that have finished.
static constexpr int64_t counterBytes = 8, finishedOffset = 4;

/// Values of an entry beside the tile's number, each a word of the slot.
Values Upcoming::flatten(KernelState &state) const {
  Values values{index, exists, block.firstKey, block.full};
  llvm::append_range(values, place.flatten());
  llvm::append_range(values, bounds.flatten(state));
  llvm::append_range(values, position);
  return values;
}

Upcoming Upcoming::from(KernelState &state, ValueRange v) {
  LocBuilder &b = state.b;
  auto take = [&](size_t count) {
    ValueRange taken = v.take_front(count);
    v = v.drop_front(count);
    return taken;
  };
  ValueRange head = take(4);
  TilePlace place = TilePlace::from(state, take(TilePlace::size(state)));
  KeyBounds bounds = KeyBounds::from(state, take(KeyBounds::size(state)));
  return {{b, head[0]},
          head[1],
          place,
          bounds,
          {{b, head[2]}, head[3]},
          KeyBlockList::Position(v)};
}

Upcoming Upcoming::lookUp(KernelState &state, TileOrder &order, Int index) {
  Value exists = order.exists(index);
  Tile tile(state, order.place(index));
  Upcoming upcoming{index, exists, tile, KeyBounds::of(state, tile), {}, {}};
  upcoming.block =
      KeyBlockList(state, tile, upcoming.bounds).first(upcoming.position);
  return upcoming;
}

TileQueue::TileQueue(KernelState &state, TileOrder &order, Value which)
    : state(state), order(order),
      // Every warp that reads an entry says so: four of a consumer, one that
      // stores for it, and the producer unless it wrote the entry.
      ring(state, state.plan.tileBarriers(), state.plan.tileQueueSlots(),
           5 * state.plan.consumers + state.plan.hasScheduler()),
      which(state.b, which) {}

Int TileQueue::counter() const {
  LocBuilder &b = state.b;
  Int base(b, nvvm::globalCounters(b, state.program.kernel->getParentOp(),
                                   state.plan.tileCounters));
  return base + which.wide() * counterBytes;
}

Value TileQueue::hasCounter() const { return state.i32(-1).lessThan(which); }

Int TileQueue::slot(Cursor cursor) const {
  return state.shared + cursor.stage * tileQueueEntryBytes;
}

Int TileQueue::ask(Value leader, Int index) const {
  LocBuilder &b = state.b;
  if (!which)
    return index;
  Values asked =
      emitIf(b, hasCounter(), ValueRange(index.get()), [&]() -> Values {
        return {nvvm::atomicAdd(b, leader, counter(), 0, 1, /*ordered=*/false)};
      });
  return {b, asked.front()};
}

Int TileQueue::answer(Int asked) const {
  // A count goes on after the tile that each CTA begins with, an index after
  // itself.
  return order.next(which ? Int(state.b, nvvm::broadcastLane0(state.b, asked))
                          : asked);
}

void TileQueue::publish(Value leader, Cursor cursor,
                        const Upcoming &tile) const {
  LocBuilder &b = state.b;
  ring.waitEmpty(cursor);
  emitIf(b, leader, [&] {
    for (auto [word, value] : llvm::enumerate(tile.flatten(state))) {
      if (value.getType().isInteger(1))
        value = arith::ExtUIOp::create(b, b.getI32Type(), value);
      nvvm::storeShared32(b, slot(cursor), state.plan.tileSlots() + 4 * word,
                          value);
    }
    ring.announce(state.boolean(true), cursor);
  });
}

void TileQueue::finish(Value leader) const {
  LocBuilder &b = state.b;
  if (!which)
    return;
  emitIf(b, arith::AndIOp::create(b, leader, hasCounter()), [&] {
    Int counter = this->counter();
    Int before(b, nvvm::atomicAdd(b, state.boolean(true), counter,
                                  finishedOffset, 1, /*ordered=*/true));
    Int last = Int(b, nvvm::gridSize(b)) - 1;
    emitIf(b, before.equals(last), [&] {
      nvvm::storeGlobal(b, counter,
                        arith::ConstantIntOp::create(b, b.getI64Type(), 0));
    });
  });
}

Upcoming TileQueue::take(Cursor cursor, const Upcoming &like) const {
  LocBuilder &b = state.b;
  ring.waitFull(cursor);
  Values words;
  for (auto [word, value] : llvm::enumerate(like.flatten(state))) {
    Int read(b, nvvm::loadShared32(b, slot(cursor),
                                   state.plan.tileSlots() + 4 * word));
    read = {b,
            nvvm::broadcastLane0(b, read)}; // uniform; and all lanes have read
    words.push_back(value.getType().isInteger(1) ? read.equals(1) : read.get());
  }
  ring.release(state.thread.lane.equals(0), cursor);
  return Upcoming::from(state, words);
}
