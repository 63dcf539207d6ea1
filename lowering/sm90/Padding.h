// Values of keys that are padding.
#pragma once

#include "lowering/sm90/Copies.h"

namespace qm::sm90 {

/// Consumer, all threads: zeros in those rows of a tile of values whose keys
/// are padding (Program::paddingCondition), there for the products that follow.
/// `firstKey` is the key of row 0.
void clearPadding(KernelState &state, Tile &tile, PanelRows rows, Int firstKey,
                  Int consumer);

} // namespace qm::sm90
