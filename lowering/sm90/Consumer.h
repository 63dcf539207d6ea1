// The role of the other warpgroups: 64 query rows each, products and softmax in
// a software pipeline over the flattened sequence of (tile, key block).
// README.md draws its timeline.
#pragma once

#include "lowering/sm90/Copies.h"
#include "lowering/sm90/TileOrder.h"

namespace qm::sm90 {

/// Emits the role into new blocks of the builder's region, from the builder's
/// block on, and jumps to `exit` at the end.
///
void emitConsumer(KernelState &state, Rings &rings, const TileQueue &queue,
                  mlir::Block *exit);

} // namespace qm::sm90
