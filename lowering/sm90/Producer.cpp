// The loading role. Its order is the consumers': keys of a block before the
// values of the block before it, across the border of two tiles too.
#include "lowering/sm90/Producer.h"

#include "lowering/sm90/TileScheduler.h"

using namespace mlir;
using namespace qm;
using namespace qm::sm90;

namespace {

/// Values of a block that are loaded after the keys of the next one.
struct Pending {
  Cursor cursor;
  Int batch, head;
  Int firstRow; ///< in memory; negative: none
};

/// What the producer carries from block to block.
struct Progress {
  Cursor key;
  Pending pending;

  Values flatten() const {
    return {
        key.stage,     key.round,    pending.cursor.stage, pending.cursor.round,
        pending.batch, pending.head, pending.firstRow};
  }
  static Progress from(LocBuilder &b, ValueRange v) {
    return {{{b, v[0]}, {b, v[1]}},
            {{{b, v[2]}, {b, v[3]}}, {b, v[4]}, {b, v[5]}, {b, v[6]}}};
  }
  static constexpr unsigned size = 7;
};

class Producer {
public:
  Producer(KernelState &state, Rings &rings, const TileQueue &queue)
      : state(state), b(state.b), rings(rings), queue(queue),
        scheduler(state, queue), leader(state.thread.lane.equals(0)) {}

  void emit();

private:
  void loadPending(const Pending &pending);
  Progress loadBlocks(Tile &tile, const Upcoming &from, Progress progress);

  KernelState &state;
  LocBuilder &b;
  Rings &rings;
  const TileQueue &queue;
  TileScheduler scheduler;
  Value leader;
};

} // namespace

void Producer::loadPending(const Pending &pending) {
  emitIf(b, state.i32(-1).lessThan(pending.firstRow), [&] {
    rings.loadValues.emit(leader, pending.cursor, pending.batch, pending.head,
                          pending.firstRow, /*present=*/{});
  });
}

Progress Producer::loadBlocks(Tile &tile, const Upcoming &from,
                              Progress progress) {
  KeyBlockList blocks(state, tile, from.bounds);
  Values inits{from.block.firstKey, from.block.full};
  llvm::append_range(inits, from.position);
  llvm::append_range(inits, progress.flatten());
  unsigned positions = from.position.size();
  Values results = emitWhile(
      b, inits,
      [&](ValueRange v) -> Value {
        return KeyBlock{{b, v[0]}, v[1]}.exists(state);
      },
      [&](ValueRange v) -> Values {
        KeyBlock current{{b, v[0]}, v[1]};
        KeyBlockList::Position at(v.slice(2, positions));
        Progress now = Progress::from(b, v.drop_front(2 + positions));
        Int firstRow = tile.keyRow(current.firstKey);
        rings.loadKeys.emit(leader, now.key, rings.loadKeys.batch(tile),
                            rings.loadKeys.head(tile), firstRow,
                            /*present=*/{});
        loadPending(now.pending);
        Progress then{rings.key.next(now.key),
                      {now.key, rings.loadValues.batch(tile),
                       rings.loadValues.head(tile), firstRow}};
        KeyBlock following = blocks.next(at, current);
        Values next{following.firstKey, following.full};
        llvm::append_range(next, at);
        llvm::append_range(next, then.flatten());
        return next;
      });
  return Progress::from(b, ValueRange(results).drop_front(2 + positions));
}

void Producer::emit() {
  Cursor start = Cursor::start(state);
  Progress nothing{start, {start, state.i32(0), state.i32(0), state.i32(-1)}};
  Values first = scheduler.first().flatten(state);
  // Order: place in the queue, query buffer, progress, tile.
  Values inits{start.stage, start.round, start.stage, start.round};
  llvm::append_range(inits, nothing.flatten());
  llvm::append_range(inits, first);
  auto tileOf = [&](ValueRange v) {
    return Upcoming::from(state, v.drop_front(4 + Progress::size));
  };
  Values results = emitWhile(
      b, inits, [&](ValueRange v) -> Value { return tileOf(v).exists; },
      [&](ValueRange v) -> Values {
        Cursor place{{b, v[0]}, {b, v[1]}}, query{{b, v[2]}, {b, v[3]}};
        Progress progress = Progress::from(b, v.slice(4, Progress::size));
        Upcoming current = tileOf(v);
        bool schedules = !state.plan.hasScheduler();
        Int asked = schedules ? scheduler.ask(current.index) : Int();
        Tile tile(state, current.place);
        // A single query buffer becomes empty when the tile before has ended,
        // which needs its last values.
        if (rings.query.size() == 1) {
          loadPending(progress.pending);
          progress.pending.firstRow = state.i32(-1);
        }
        Int present = tile.sequence ? tile.sequence->queries - tile.row : Int();
        rings.loadQuery.emit(leader, query, rings.loadQuery.batch(tile),
                             rings.loadQuery.head(tile),
                             tile.queryRow(tile.row), present);
        progress = loadBlocks(tile, current, progress);
        query = rings.query.next(query);
        Upcoming following =
            schedules ? scheduler.next(asked) : queue.take(place, current);
        if (schedules)
          queue.publish(leader, place, following);
        place = queue.next(place);
        Values next{place.stage, place.round, query.stage, query.round};
        llvm::append_range(next, progress.flatten());
        llvm::append_range(next, following.flatten(state));
        return next;
      });
  loadPending(
      Progress::from(b, ValueRange(results).slice(4, Progress::size)).pending);
  if (!state.plan.hasScheduler())
    queue.finish(leader);
}

void qm::sm90::emitProducer(KernelState &state, Rings &rings,
                            const TileQueue &queue) {
  Producer(state, rings, queue).emit();
}
