// From a consumer's accumulator and statistics to global memory.
#pragma once

#include "lowering/sm90/Copies.h"
#include "lowering/sm90/Softmax.h"
#include "lowering/sm90/TileOrder.h"

namespace qm::sm90 {

/// Consumer: what follows from a tile's statistics, while its last product is
/// under way. Stores lse and row maxima; the inverse of each row's sum.
Values finishRows(KernelState &state, Tile &tile, const Statistics &statistics);
/// Consumer: normalises O and stages it in its own rows of the query buffer
/// (their Q is dead).
void stageTile(KernelState &state, Cursor query, Fragment &accumulator,
               const Values &inverse);
/// Consumer: what it staged may be stored. Waits for its writes.
void announceTile(KernelState &state, Cursor query);

/// The role of a warp beside the loading one, one for each consumer: stores
/// what the consumer staged, tile after tile, by tensor copies, and gives the
/// query buffer back when they have read it. The consumer itself never waits
/// for that.
void emitStorer(KernelState &state, Rings &rings, const TileQueue &queue);

} // namespace qm::sm90
