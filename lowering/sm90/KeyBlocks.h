// Which key blocks a query tile needs, in ascending order. Producer and
// consumers each go through the list by themselves and find the same blocks:
// under a mask the classify region (the mask lifted to intervals) is run for 32
// blocks at a time, one a lane, and two ballots give the list of all 32.
//
// Every tile has at least one block: where no key may be kept it is an absent
// one, past the last key. Tensor copies fill it with zeros without reading
// memory, and every key of it is masked.
#pragma once

#include "lowering/sm80/ElementRegion.h"
#include "lowering/sm90/KernelState.h"

namespace qm::sm90 {

struct KeyBlock {
  Int firstKey;     ///< negative: the list has ended
  mlir::Value full; ///< i1: every key is there and no pair is masked

  mlir::Value exists(KernelState &state) const {
    return state.i32(-1).lessThan(firstKey);
  }
};

class KeyBlockList {
public:
  /// The list of `tile`. What does not differ between blocks is emitted here.
  KeyBlockList(KernelState &state, Tile &tile);

  /// How far the list has been read: values that travel round loops. Their
  /// number depends on the kernel only.
  using Position = Values;
  static unsigned positionSize(KernelState &state);

  KeyBlock first(Position &position);
  KeyBlock next(Position &position, KeyBlock current);

private:
  KeyBlock nextOfAll(Int firstKey);
  KeyBlock nextClassified(Position &position);
  std::pair<mlir::Value, mlir::Value> classify(Int base);
  mlir::Value isWhole(Int firstKey);
  KeyBlock orAbsent(KeyBlock block);

  KernelState &state;
  Tile &tile;
  bool alwaysMasked; ///< a mask without classification: no block counts as full
  std::unique_ptr<sm80::ElementRegion> region;
};

} // namespace qm::sm90
