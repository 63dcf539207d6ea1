// From a consumer's accumulator and statistics to global memory.
#pragma once

#include "lowering/sm90/Copies.h"
#include "lowering/sm90/Softmax.h"

namespace qm::sm90 {

/// Normalises, stores O through the consumer's own rows of the query buffer (its Q is dead) by one tensor store, and lse;
/// then gives the query buffer back. `leader` holds for one thread of the consumer.
void emitEpilogue(KernelState &state, Rings &rings, mlir::Value leader, Tile &tile, Cursor query,
                  Fragment &accumulator, const Statistics &statistics);

} // namespace qm::sm90
