// Which query tiles a CTA runs, one after another.
#pragma once

#include "lowering/sm90/KernelState.h"

namespace qm::sm90 {

/// The order of tiles without a mask: tiles of one head are neighbours, so that they find its keys and values in L2. With
/// one: heads in sections whose keys and values fit L2 together, in a section tiles of late rows first (they see more keys).
/// A CTA's turn goes there and back, so that who had the longest tile of one round has the shortest of the next.
class TileOrder {
public:
  explicit TileOrder(KernelState &state);

  /// Where a CTA is in the order.
  struct Place {
    Int index; ///< of the tile in the order
    Int edge;  ///< first index of the next round
  };
  Place first();
  Place next(Place place);
  /// i1: there is such a tile.
  mlir::Value exists(Place place);
  Tile tile(Place place);

private:
  Int tilesOfHead();

  KernelState &state;
};

} // namespace qm::sm90
