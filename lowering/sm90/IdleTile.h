// A consumer and the tiles of which it has no rows: a sequence ends among the
// rows of the consumers before it. Every buffer waits for every consumer, and
// turns alternate, so it goes along with the others without computing.
#pragma once

#include "lowering/sm90/Copies.h"
#include "lowering/sm90/TileOrder.h"

namespace qm::sm90 {

/// i1, the same in all lanes: the consumer has rows of the tile at `place`.
mlir::Value hasRows(KernelState &state, const TilePlace &place, Int consumer);

/// Takes a turn and gives it on at once.
void passTurn(KernelState &state, mlir::Value owed);

/// Goes through the key blocks of tile `current`, whose query buffer is
/// `query`, and returns the key ring's place after them. Turns are taken for
/// every block but the first, whose scores are issued in a turn that belongs to
/// the border with the tile before.
Cursor passTile(KernelState &state, Rings &rings, const Upcoming &current,
                Cursor query, Cursor key);

} // namespace qm::sm90
