// The element-wise chain between scores and softmax: score modifier and mask,
// inlined on the fragment in place.
#pragma once

#include "lowering/gpu/MaskWords.h"
#include "lowering/sm90/TileLoads.h"

namespace qm::sm90 {

class ScoreChain {
public:
  /// The chain for the rows of `tile`; what does not differ between its
  /// elements is emitted here.
  ScoreChain(KernelState &state, Tile &tile);

  /// Begins a block, whose scores need not be there: loads what can be loaded
  /// ahead, if it is a full one.
  void begin(Int firstKey, bool masked);
  /// Applies the chain to the block that was begun. `masked`: the user's mask
  /// and the end of the keys too.
  void apply(BlockScores &scores, Int firstKey, bool masked);

private:
  void applyMap(attn::MapOp op, BlockScores &scores);
  /// Each replaces masked elements by `fill`.
  void applyMask(attn::MaskOp op, Fragment &scores, mlir::Value fill);
  void applyWords(Fragment &scores, Int firstKey, mlir::Value fill);
  void maskAbsentKeys(Fragment &scores, Int firstKey, mlir::Value fill);
  void applyRest(Fragment &scores, Int firstKey, mlir::Value fill);
  bool sharesReciprocals();
  void load(attn::MapOp op);
  bool loadsAhead(TileLoads &loads) const;
  Values rowIndices(mlir::Value corner);
  Values columnIndices(mlir::Value corner);

  KernelState &state;
  Tile &tile;
  mlir::IRMapping
      scalars; ///< those of the tile, and the first key of the block
  llvm::DenseMap<mlir::Operation *, std::unique_ptr<gpu::ElementRegion>>
      regions;
  llvm::DenseMap<mlir::Operation *, std::unique_ptr<TileLoads>> loads;
  /// Masks that have a word a row.
  llvm::DenseMap<mlir::Operation *, std::unique_ptr<gpu::MaskWords>> words;
};

} // namespace qm::sm90
