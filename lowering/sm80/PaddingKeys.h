// Keys that are padding: a condition of the mask on the key alone says so.
#pragma once

#include "lowering/gpu/ElementRegion.h"

namespace qm::sm80 {
using namespace gpu;

/// Their values must not meet a probability of 0, because they may be NaN:
/// where a tile of values has such rows, they are zeros instead.
class PaddingKeys {
public:
  /// Emits what is the same for all keys. Null if the masks of `loop` have no
  /// such condition.
  static std::shared_ptr<PaddingKeys> of(LocBuilder &b, attn::KeyBlocksOp loop,
                                         Arguments &arguments,
                                         const mlir::IRMapping &scalars);

  /// i1: key number `key` is one that a row may keep.
  mlir::Value isUsed(LocBuilder &b, Int key);

private:
  std::unique_ptr<mlir::Region> condition;
  std::unique_ptr<ElementRegion> region;
};

} // namespace qm::sm80
