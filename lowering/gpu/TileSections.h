// Query tiles longest first, in sections of heads whose keys and values fit the
// second-level cache together.
#pragma once

#include "lowering/gpu/Int.h"

namespace qm::gpu {

/// A sequence (batch * heads + head) where all have one length, and a tile of
/// its rows.
struct DensePlace {
  Int sequence, tile;
};

/// What number `index` means where late rows go first inside sections of at
/// most `fitting` of the `sequences`, each of `tiles` tiles.
DensePlace placeInSections(Int index, Int tiles, Int sequences, Int fitting);

} // namespace qm::gpu
