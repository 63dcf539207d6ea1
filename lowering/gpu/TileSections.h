// Query tiles longest first, in sections of heads whose keys and values fit the
// second-level cache together.
#pragma once

#include "dialect/AttnOps.h"
#include "lowering/gpu/Int.h"

namespace qm::gpu {

/// A sequence (batch * heads + head) where all have one length, and a tile of
/// its rows.
struct DensePlace {
  Int sequence, tile;
};

/// Whether late rows may need no early keys: a window, documents. Then only
/// some keys of a sequence are read at a time.
bool leavesKeysBehind(attn::KeyBlocksOp loop);

/// What number `index` means where late rows go first inside sections of at
/// most `fitting` of the `sequences`, each of `tiles` tiles. `firstRowsLast`:
/// the first rows of all sequences come after the sections, as short tiles
/// that fill what the others leave at the end.
DensePlace placeInSections(LocBuilder &b, Int index, Int tiles, Int sequences,
                           Int fitting, bool firstRowsLast);

} // namespace qm::gpu
