// The element-wise chain between scores and softmax: score modifier and mask,
// inlined on the fragment in place.
#pragma once

#include "lowering/gpu/MaskWords.h"
#include "lowering/sm90/BlockScores.h"
#include "lowering/sm90/TileLoads.h"

namespace qm::sm90 {

class ScoreChain {
public:
  /// The chain for the rows of `tile`; what does not differ between its
  /// elements is emitted here.
  ScoreChain(KernelState &state, Tile &tile);

  /// Begins a block, whose scores need not be there: loads what can be loaded
  /// ahead.
  void begin(Int firstKey, bool masked);
  /// Finds out what the mask keeps, from what `begin` loaded. Does not need the
  /// scores either.
  void findKept(Int firstKey, bool masked);
  /// Whether `begin` should be as early as can be.
  bool beginsAhead(bool masked) const;
  /// Applies the chain to the block that was begun. `masked`: the user's mask
  /// and the end of the keys too. `late`: whether a map with a usual case may
  /// be left to the softmax.
  void apply(BlockScores &scores, Int firstKey, bool masked, bool late = false);

private:
  /// The region of an operation, and that of its usual case (null: it has
  /// none).
  struct Regions {
    std::unique_ptr<gpu::ElementRegion> general, usual;
  };

  gpu::ElementRegion &region(mlir::Operation *op) {
    return *regions[op].general;
  }
  gpu::ElementRegion::Place place(const BlockScores &scores, unsigned element,
                                  mlir::ValueRange rows,
                                  mlir::ValueRange columns);
  void applyMap(attn::MapOp op, gpu::ElementRegion &region, BlockScores &scores,
                unsigned from, unsigned to);
  LateMap leaveMap(attn::MapOp op, const BlockScores &scores);
  mlir::Value exceeds(attn::MapOp op, gpu::UsualRange range,
                      const BlockScores &scores);
  /// Each replaces masked elements by `fill`.
  void applyMask(attn::MaskOp op, Fragment &scores, mlir::Value fill);
  void applyWords(Fragment &scores, Int firstKey, mlir::Value fill);
  void applyBits(Fragment &scores, Int firstKey, Int left, mlir::Value fill);
  void maskAbsentKeys(Fragment &scores, Int firstKey, mlir::Value fill);
  void applyRest(Fragment &scores, Int firstKey, mlir::Value fill);
  bool hasWords() const;
  bool readsBits() const;
  Int keysLeft(Int firstKey);
  mlir::Value columnsBefore(Int left);
  void forWords(Int firstKey,
                llvm::function_ref<void(attn::MaskOp, gpu::MaskWords &,
                                        const gpu::MaskWords::Place &)>
                    visit);
  Values keptBy(Values kept, gpu::MaskWords::Part part, Int firstKey);
  bool sharesReciprocals();
  void load(attn::MapOp op);
  bool loadsAhead(TileLoads &loads) const;
  Values rowIndices(mlir::Value corner);
  Values columnIndices(mlir::Value corner);

  KernelState &state;
  Tile &tile;
  mlir::IRMapping
      scalars; ///< those of the tile, and the first key of the block
  llvm::DenseMap<mlir::Operation *, Regions> regions;
  llvm::DenseMap<mlir::Operation *, std::unique_ptr<TileLoads>> loads;
  /// Masks that have a word a row.
  llvm::DenseMap<mlir::Operation *, std::unique_ptr<gpu::MaskWords>> words;
  /// Of the block that was begun, for each of the thread's rows: the columns
  /// that those masks and the end of the keys leave.
  Values kept;
};

} // namespace qm::sm90
