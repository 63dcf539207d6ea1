// Which rows a CTA has. Without lengths a CTA number is a batch entry, a head
// and a tile of rows. With lengths the tiles of a head belong to sequences, and
// there are more numbers than tiles: see lowering/README.md.
#pragma once

#include "lowering/sm80/KernelState.h"

namespace qm::sm80 {

/// Reads the position from special registers, and enters the tile's sequence.
/// `longestFirst`: tiles of late rows, which see more keys under a causal mask,
/// start first. Threads of numbers that mean no rows end here.
TilePosition readTilePosition(LocBuilder &b, const Plan &plan,
                              Arguments &arguments, const Thread &thread,
                              Int shared, bool longestFirst);

/// The same after the loop over key blocks, so that nothing need live through
/// it: derived anew, or with lengths kept in shared memory if there is room.
TilePosition readTilePositionAgain(KernelState &state, bool longestFirst);

} // namespace qm::sm80
