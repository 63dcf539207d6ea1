// Who finds out which tile comes next.
#pragma once

#include "lowering/sm90/TileOrder.h"

namespace qm::sm90 {

/// Asks for tiles and looks them up: divisions, under a mask searches in
/// captured buffers and a look at 32 key blocks.
class TileScheduler {
public:
  TileScheduler(KernelState &state, const TileQueue &queue)
      : state(state), queue(queue), order(state),
        leader(state.thread.lane.equals(0)) {}

  /// The tile that the CTA begins with.
  Upcoming first() { return Upcoming::lookUp(state, order, order.first()); }
  /// Asks for the tile after number `index`; the answer takes a while.
  Int ask(Int index) const { return queue.ask(leader, index); }
  /// The tile that was asked for.
  Upcoming next(Int asked);

private:
  KernelState &state;
  const TileQueue &queue;
  TileOrder order;
  mlir::Value leader;
};

/// Emits the role of a warp that does nothing else, tiles ahead of everyone
/// (Plan::hasScheduler); without one the producer does it between two tiles.
void emitScheduler(KernelState &state, const TileQueue &queue);

} // namespace qm::sm90
