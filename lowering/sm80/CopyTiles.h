// Copies of tiles from global to shared memory by cp.async: the query tile
// once, key and value tiles through a ring.
#pragma once

#include "lowering/sm80/KernelState.h"

#include <functional>

namespace qm::sm80 {

/// A place in the CTA's shared memory: `bytes` known here plus, if set, an i32
/// known to the kernel.
struct SharedPlace {
  int64_t bytes = 0;
  Int dynamic;

  /// The register part of an address at this place.
  Int base(Int address) const { return dynamic ? address + dynamic : address; }
};

/// What a thread copies of one operand's tiles: chunk copyChunk(thread) of the
/// half rows of rows copyRow(thread),
/// + copyRows, ... The base address lives in registers, strides and extents in
/// constant memory.
class TileSource {
public:
  /// Tiles of `rows` rows that `load` reads; batch and head are those of the
  /// load.
  TileSource(KernelState &state, attn::LoadTileOp load, int64_t rows);

  /// Moves the base address to shared memory, `offset` bytes from its start.
  /// Every thread writes the same value, so each may read it at once.
  void keepInShared(int64_t offset);

  /// The copies of one tile, one `issue` each: reads of rows past the extent
  /// become zeros. Addresses are formed when the first is issued.
  class Copy {
  public:
    Copy(const TileSource &source, Int firstRow, SharedPlace place)
        : source(&source), firstRow(firstRow), place(place) {}
    unsigned size() const;
    void issue(unsigned i);
    void issueAll();

  private:
    const TileSource *source;
    Int firstRow;
    SharedPlace place;
    Int global, rowsLeft, sharedBase;
  };

private:
  KernelState &state;
  mlir::Value tensor;
  int64_t rows, rowBytes;
  Int base; ///< i64 address of the sequence's first row; null: in shared memory
  int64_t baseOffset = 0;
};

/// Key and value tiles alternate in a ring of `stages` slots: tile t is key
/// tile t/2 or value tile t/2 and lies in slot t % stages. At the barrier that
/// makes tile t visible, tile t - 1 is dead, and tile t + stages - 1 is copied
/// into its slot.
class TileRing {
public:
  /// `loads`: the loads of the loop's body in the order they are used.
  TileRing(KernelState &state, llvm::ArrayRef<attn::LoadTileOp> loads);

  /// Starts the copies of the first tiles. What was issued before belongs to
  /// the first group.
  void start(Int firstKey);
  /// Waits for the first tile, and so for all that was issued before it.
  void waitForFirst();

  /// What travels round the loop.
  llvm::SmallVector<mlir::Value> carried() const;
  void setCarried(mlir::ValueRange values);

  /// A tile that all threads may read, and the copies to issue meanwhile: call
  /// `hook(g)` after the g-th group of mma.
  struct Visible {
    SharedPlace place;
    std::function<void(unsigned group)> hook;
  };
  Visible acquire(unsigned index, Int firstKey, Int nextFirstKey);

private:
  SharedPlace slot(int64_t ahead) const;

  KernelState &state;
  llvm::SmallVector<TileSource> sources;
  Int current; ///< stages = 3: bytes of the slot of the next tile to use, after
               ///< slot 0
};

} // namespace qm::sm80
