// Tiles that pass a consumer by.
#include "lowering/sm90/IdleTile.h"

#include "lowering/sm90/Epilogue.h"

using namespace mlir;
using namespace qm;
using namespace qm::sm90;

Value qm::sm90::hasRows(KernelState &state, const TilePlace &place,
                        Int consumer) {
  Int left = place.sequence->queries - place.row - consumer * consumerRows;
  return state.i32(0).lessThan(
      Int(state.b, nvvm::broadcastLane0(state.b, left)));
}

void qm::sm90::passTurn(KernelState &state, Value owed) {
  Turns turns(state);
  emitIf(state.b, owed, [&] {
    turns.enter();
    turns.leave();
  });
}

Cursor qm::sm90::passTile(KernelState &state, Rings &rings,
                          const Upcoming &current, Cursor query, Cursor key) {
  LocBuilder &b = state.b;
  Int consumer = state.thread.warpgroup - 1;
  Value leader = state.thread.inGroup.equals(0);
  Tile tile(state, current.place);
  KeyBlockList blocks(state, tile, current.bounds);
  rings.query.waitFull(query);
  unsigned positions = current.position.size();
  Values inits{current.block.firstKey, current.block.full, key.stage,
               key.round};
  llvm::append_range(inits, current.position);
  Values results = emitWhile(
      b, inits,
      [&](ValueRange v) -> Value {
        return KeyBlock{{b, v[0]}, v[1]}.exists(state);
      },
      [&](ValueRange v) -> Values {
        Cursor cursor{{b, v[2]}, {b, v[3]}};
        KeyBlockList::Position at(v.slice(4, positions));
        rings.key.waitFull(cursor);
        rings.value.waitFull(cursor);
        // No warp still waits for what may be filled again from here on.
        syncConsumer(state, consumer);
        rings.key.release(leader, cursor);
        rings.value.release(leader, cursor);
        KeyBlock next = blocks.next(at, {{b, v[0]}, v[1]});
        passTurn(state, next.exists(state));
        Cursor following = rings.key.next(cursor);
        Values values{next.firstKey, next.full, following.stage,
                      following.round};
        llvm::append_range(values, at);
        return values;
      });
  announceTile(state, query);
  return {{b, results[2]}, {b, results[3]}};
}
