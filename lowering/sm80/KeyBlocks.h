// Which key blocks a query tile needs, in ascending order. Under a mask the
// classify region (the mask lifted to intervals) is run for 32 blocks at a
// time, one a lane; two ballots give the work list of all 32. The bounds region
// (the mask solved for the key) says where to begin and to end.
#pragma once

#include "lowering/gpu/ElementRegion.h"
#include "lowering/sm80/KernelState.h"

namespace qm::sm80 {

struct KeyBlock {
  Int firstKey;     ///< at or past Skv: there is no such block
  mlir::Value full; ///< i1: every key is there and no pair is masked
};

class KeyBlockList {
public:
  KeyBlockList(KernelState &state, attn::KeyBlocksOp loop);

  /// Values that say how far the list has been read; they travel round the
  /// loop.
  llvm::SmallVector<mlir::Value> start();
  /// Whether some blocks may be full.
  bool hasFullBlocks() const { return !alwaysMasked; }
  /// Without a mask all blocks but the last are full.
  bool isOneRun() const { return !region && !alwaysMasked; }
  KeyBlock last();
  /// The block after `previous`; null: the first.
  KeyBlock next(const KeyBlock *previous,
                llvm::SmallVectorImpl<mlir::Value> &position);

  /// The first key of the last block of the run of full blocks, one after the
  /// other, that begins with `block`; its own first key if it is not full.
  Int lastOfRun(const KeyBlock &block,
                llvm::ArrayRef<mlir::Value> position) const;
  /// The block after one of a run that is not its last.
  KeyBlock nextOfRun(const KeyBlock &block) const;
  /// At `block`, the last of a run: whether it is full, and the position after
  /// it, when that before the run is `position`.
  void endRun(KeyBlock &block,
              llvm::SmallVectorImpl<mlir::Value> &position) const;

  /// i1: some row of the warp may keep a key of the block. Null: not known to
  /// be worth asking.
  mlir::Value seenByWarp(const KeyBlock &block);

private:
  /// First and last row of the tile.
  std::pair<Int, Int> rows();
  /// Without a mask: every block.
  KeyBlock following(const KeyBlock *previous);
  /// Classifies blocks base + lane: the ballots of "needed" and of "full".
  std::pair<mlir::Value, mlir::Value> classify(Int base);
  mlir::Value isWhole(Int firstKey) const;

  KernelState &state;
  bool alwaysMasked; ///< a mask without classification: no block counts as full
  std::unique_ptr<ElementRegion> region, bounds;
  bool readsLengths = false; ///< the bounds end where a captured length does
  /// Blocks before `begin` and from `end` on have no row that keeps a key.
  Int begin, end;
};

} // namespace qm::sm80
