// The role of warpgroup 0: one lane keeps the rings of query tiles, key blocks
// and value blocks full.
#pragma once

#include "lowering/sm90/Copies.h"
#include "lowering/sm90/TileOrder.h"

namespace qm::sm90 {

/// Emits the role; the builder stays in one block.
void emitProducer(KernelState &state, Rings &rings, const TileQueue &queue);

} // namespace qm::sm90
