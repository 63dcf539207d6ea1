// Looking tiles up.
#include "lowering/sm90/TileScheduler.h"

using namespace mlir;
using namespace qm;
using namespace qm::sm90;

/// With lengths there may be more numbers than tiles: goes on to the first that
/// has rows.
Upcoming TileScheduler::next(Int asked) {
  LocBuilder &b = state.b;
  Upcoming tile = Upcoming::lookUp(state, order, queue.answer(asked));
  if (!state.plan.hasLengths)
    return tile;
  Values found = emitWhile(
      b, tile.flatten(state),
      [&](ValueRange v) -> Value {
        Upcoming current = Upcoming::from(state, v);
        return arith::AndIOp::create(
            b, current.exists,
            current.place.sequence->queries.atMost(current.place.row));
      },
      [&](ValueRange v) -> Values {
        Int index = Upcoming::from(state, v).index;
        return Upcoming::lookUp(state, order, queue.answer(ask(index)))
            .flatten(state);
      });
  return Upcoming::from(state, found);
}

void qm::sm90::emitScheduler(KernelState &state, const TileQueue &queue) {
  LocBuilder &b = state.b;
  TileScheduler scheduler(state, queue);
  TileOrder order(state);
  Value leader = state.thread.lane.equals(0);
  Cursor start = Cursor::start(state);
  Int first = order.first();
  // Order: place in the queue, number of the tile before, whether it is one.
  Values inits{start.stage, start.round, first, order.exists(first)};
  emitWhile(
      b, inits, [&](ValueRange v) -> Value { return v[3]; },
      [&](ValueRange v) -> Values {
        Cursor place{{b, v[0]}, {b, v[1]}};
        // Not before there is room (Plan::tileQueueSlots).
        queue.awaitRoom(place);
        Upcoming tile = scheduler.next(scheduler.ask({b, v[2]}));
        queue.publish(leader, place, tile);
        place = queue.next(place);
        return Values{place.stage, place.round, tile.index, tile.exists};
      });
  queue.finish(leader);
}
