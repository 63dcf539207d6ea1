// The element-wise chain between scores and softmax: score modifier and mask,
// inlined on the fragment in place.
#pragma once

#include "lowering/sm80/ElementRegion.h"
#include "lowering/sm90/KernelState.h"

namespace qm::sm90 {

class ScoreChain {
public:
  /// The chain for the rows of `tile`; what does not differ between its
  /// elements is emitted here.
  ScoreChain(KernelState &state, Tile &tile);

  /// Applies the chain to the block at `firstKey`. `masked`: the user's mask
  /// and the end of the keys too.
  void apply(BlockScores &scores, Int firstKey, bool masked);

private:
  void applyMap(attn::MapOp op, BlockScores &scores);
  void applyMask(attn::MaskOp op, Fragment &scores);
  void maskAbsentKeys(Fragment &scores, Int firstKey);
  Values rowIndices(mlir::Value corner);
  Values columnIndices(mlir::Value corner, unsigned count);

  KernelState &state;
  mlir::IRMapping
      scalars; ///< those of the tile, and the first key of the block
  llvm::DenseMap<mlir::Operation *, std::unique_ptr<sm80::ElementRegion>>
      regions;
};

} // namespace qm::sm90
