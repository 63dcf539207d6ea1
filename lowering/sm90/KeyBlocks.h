// Which key blocks a query tile needs. Producer and consumers each go through
// the list by themselves and find the same blocks: under a mask the classify
// region (the mask lifted to intervals) is run for 32 blocks at a time, one a
// lane, and two ballots give the list of all 32. The bounds region (the mask
// solved for the key) says where the list begins and ends.
//
// Without a mask blocks come in ascending order, with one in descending order:
// tiles that run together, whose ends differ, then read different keys at a
// time, and scores that fall with the distance (ALiBi, say) begin with their
// maximum, so that nothing has to be rescaled.
//
// Every tile has at least one block: where no key may be kept it is an absent
// one, past the last key. Tensor copies fill it with zeros without reading
// memory, and every key of it is masked.
#pragma once

#include "lowering/gpu/ElementRegion.h"
#include "lowering/sm90/KernelState.h"

namespace qm::sm90 {

struct KeyBlock {
  Int firstKey;     ///< negative: the list has ended
  mlir::Value full; ///< i1: every key is there, no pair is masked, and
                    ///< TileLoads can take it

  mlir::Value exists(KernelState &state) const {
    return state.i32(-1).lessThan(firstKey);
  }
};

/// Between which blocks a tile's keys lie. The producer finds out, which may
/// take a search in memory, and tells the consumers.
struct KeyBounds {
  /// Blocks before `begin` and from `end` on have no row that keeps a key.
  Int begin, end;
  Int lengthEnd; ///< the first key past a captured length; null: there is none

  /// Those of a tile. Empty without a classify region.
  static KeyBounds of(KernelState &state, Tile &tile);
  /// What has to be told, none where the extents say it.
  Values flatten(KernelState &state) const;
  static unsigned size(KernelState &state);
  static KeyBounds from(KernelState &state, mlir::ValueRange values);
};

class KeyBlockList {
public:
  /// The list of `tile`. What does not differ between blocks is emitted here.
  KeyBlockList(KernelState &state, Tile &tile, KeyBounds bounds);

  /// How far the list has been read: values that travel round loops. Their
  /// number depends on the kernel only.
  using Position = Values;
  static unsigned positionSize(KernelState &state);

  KeyBlock first(Position &position);
  KeyBlock next(Position &position, KeyBlock current);

  /// Rows of the block's keys and values that may be used, where a captured
  /// length or that of the sequence ends them: what lies behind it in memory
  /// may be anything. May be negative, or more than a block has. Null where
  /// only the extent ends them, past which tensor copies write zeros.
  Int presentRows(KeyBlock block);

private:
  KeyBlock nextOfAll(Int firstKey);
  KeyBlock nextClassified(Position &position);
  std::pair<mlir::Value, mlir::Value> classify(Int base);
  mlir::Value isWhole(Int firstKey);
  KeyBlock orAbsent(KeyBlock block);

  KernelState &state;
  Tile &tile;
  bool alwaysMasked; ///< a mask without classification: no block counts as full
  std::unique_ptr<gpu::ElementRegion> region;
  KeyBounds bounds;
  /// First keys of blocks that may count as full. `firstWhole` null: 0.
  Int firstWhole, lastWhole;
};

} // namespace qm::sm90
