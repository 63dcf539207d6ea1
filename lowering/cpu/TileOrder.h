//===- TileOrder.h - which rows a tile number means -------------*- C++ -*-===//
#pragma once

#include "lowering/cpu/TileMemory.h"

namespace qm::cpu {

/// The rows of query tile `tile` (i64) of `tileM` rows, without `strips`. Tiles
/// of one head are neighbours, so that its keys stay in cache. With
/// `longestFirst`, which is for masks, later rows come first: masks in practice
/// give them more keys, and short tiles should come last.
///
/// Enters the tile's sequence if the call has lengths; `count` is then 0 or
/// less for a number that means no rows.
TileRows findTile(VectorBuilder &b, ArgumentSlots &slots, mlir::Value tile,
                  int64_t tileM, bool longestFirst);

} // namespace qm::cpu
