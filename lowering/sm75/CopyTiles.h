// Copies of tiles from global to shared memory by way of registers: sm_75 has
// no cp.async. Addresses are those of lowering/sm80/CopyTiles.h.
#pragma once

#include "lowering/sm80/CopyTiles.h"

namespace qm::sm75 {

/// One tile's copy in two steps; in between it waits in registers.
class StagedCopy {
public:
  StagedCopy(sm80::KernelState &state, const sm80::TileSource &source,
             sm80::Int firstRow, sm80::SharedPlace place)
      : state(state), copy(source, firstRow, place) {}

  /// Reads the thread's part, zeros for rows past the extent.
  void load();
  /// Writes it to shared memory.
  void store();

private:
  nvvm::Values read(bool whole);

  sm80::KernelState &state;
  sm80::TileSource::Copy copy;
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

  void start(sm80::Int firstKey) override;
  void waitForFirst() override {} // `start` ends with a barrier
  Visible acquire(unsigned index, sm80::Int firstKey,
                  sm80::Int nextFirstKey) override;
  /// The barrier after the last product stands for the end of the loop.
  void finish() override {}

private:
  std::shared_ptr<StagedCopy> makeCopy(unsigned index, sm80::Int firstKey);

  sm80::KernelState &state;
  attn::LoadTileOp query;
  llvm::SmallVector<sm80::TileSource> sources; ///< keys, values, queries
  std::shared_ptr<StagedCopy> values; ///< under way since the first product
};

} // namespace qm::sm75
