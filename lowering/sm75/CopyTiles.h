// Copies of tiles from global to shared memory by way of registers: sm_75 has
// no cp.async. Addresses are those of lowering/sm80/CopyTiles.h.
#pragma once

#include "lowering/sm80/CopyTiles.h"

namespace qm::sm75 {

/// One tile's copy in two steps; in between it waits in registers.
class StagedCopy {
public:
  /// `address`: where the thread's first chunk lies; null: found from
  /// `firstRow`.
  StagedCopy(sm80::KernelState &state, const sm80::TileSource &source,
             sm80::Int firstRow, sm80::SharedPlace place,
             sm80::Int address = {})
      : state(state), copy(source, firstRow, place), address(address) {
    copy.from(address);
  }

  /// Reads the thread's part, zeros for rows past the extent.
  void load();
  /// Of a tile whose address was given: the address for the tile after it.
  sm80::Int getNextAddress() const { return nextAddress; }
  /// Writes it to shared memory.
  void store();

private:
  nvvm::Values read(bool whole);

  sm80::KernelState &state;
  sm80::TileSource::Copy copy;
  sm80::Int address, nextAddress;
  nvvm::Values words; ///< four a chunk
};

/// The query tile, one key and one value tile in shared memory. The next one is
/// read before a product and written behind the barrier after it:
///
///   read K(n+1) | S = Q K(n) | barrier | write K(n+1), read V(n+1) |
///   softmax, O += P V(n) | barrier | write V(n+1)
///
/// (the barrier and the stores stand a few mma before the end of the product,
/// where its last fragment is on its way), so that the
/// same registers serve both. What a barrier separates from the product before
/// it, it makes visible to the product after it.
class StagedTiles : public sm80::TileSupply {
public:
  StagedTiles(sm80::KernelState &state, llvm::ArrayRef<attn::LoadTileOp> loads);

  /// In a run, the addresses of the next tiles: formed from the tile's number
  /// they would cost some twenty instructions a tile, and the wait for the
  /// thread's number and the stride. At head dim 128 there are registers for
  /// keys only, and where scores have a function of their own for neither.
  llvm::SmallVector<mlir::Value> carried() const override;
  void setCarried(mlir::ValueRange values) override;
  void beginRun(sm80::Int nextFirstKey) override;
  void endRun() override;

  void start(sm80::Int firstKey) override;
  void waitForFirst() override {} // `start` ends with a barrier
  Visible acquire(unsigned index, sm80::Int firstKey,
                  sm80::Int nextFirstKey) override;
  sm80::SharedPlace nextKeys() const override {
    return {state.plan.slotOffset(0), {}};
  }
  /// The barrier after the last product stands for the end of the loop.
  void finish() override {}

private:
  std::shared_ptr<StagedCopy> makeCopy(unsigned index, sm80::Int firstKey);

  sm80::KernelState &state;
  attn::LoadTileOp query;
  llvm::SmallVector<sm80::TileSource> sources; ///< keys, values, queries
  unsigned walkers;                            ///< tiles of a block that walk
  llvm::SmallVector<sm80::Int> walks; ///< in a run: of keys and of values
  std::shared_ptr<StagedCopy> values; ///< under way since the first product
};

} // namespace qm::sm75
