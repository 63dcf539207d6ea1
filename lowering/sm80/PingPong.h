// The ping-pong schedule: one CTA a multiprocessor, two groups of warps that
// take turns at the tensor cores. While one group is in its products, the other
// is in its softmax; left alone, the two warps of a scheduler share the tensor
// core fairly, finish together and leave it idle together.
//
// Phase i of a group: P V of block i - 1, Q K^T of block i, softmax of block i.
// Two named barriers, one for each group to wait at, alternate the product
// phases. A group hands over a few groups of mma before its own last one.
//
// Keys and values have three slots each. Block i + 1 is copied during phase i
// into the slots of block i - 2, which both groups have left even where they
// hand over early. The hand-over is also the barrier of the data: group 0 waits
// for its copies before it enters a phase, group 1 before it hands over.
#pragma once

#include "lowering/sm80/CopyTiles.h"

namespace qm::sm80 {

class PingPong : public TileSupply {
public:
  PingPong(KernelState &state, llvm::ArrayRef<attn::LoadTileOp> loads);

  /// Copies the first block; all threads may read it, and the query tile.
  void start(Int firstKey) override;
  void waitForFirst() override {}
  /// The slot of the block under way, and in a run the walks of the copies.
  llvm::SmallVector<mlir::Value> carried() const override;
  void setCarried(mlir::ValueRange values) override;
  void beginRun(Int nextFirstKey) override;
  void endRun() override;

  /// Waits for the group's turn at the products.
  void enter();
  /// Gives the turn to the other group.
  void leave();
  /// The last turn, which no one waits for after group 1.
  void leaveLast();

  /// Index 0: the key tile of the block under way; its hook hands over. Index
  /// 1: the value tile of the block before; its hook copies the next block.
  Visible acquire(unsigned index, Int firstKey, Int nextFirstKey) override;
  /// After the loop: the value tile of the last block, and nothing to copy.
  Visible lastValues();
  /// Starts the copies of the next block, where no product hides them.
  void copyNext(Int nextFirstKey);
  /// The next block becomes the one under way.
  void advance() { current = slotAfter(current); }
  void finish() override;

private:
  Int slotAfter(Int slot) const;
  Int slotBefore(Int slot) const;
  mlir::Value isSecondGroup();
  llvm::SmallVector<TileSource::Copy, 2> copies(Int firstKey, Int slot);

  KernelState &state;
  llvm::SmallVector<TileSource> sources;
  Int current; ///< bytes of the slot of the block under way, after slot 0
};

} // namespace qm::sm80
