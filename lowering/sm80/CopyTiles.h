// Copies of tiles from global to shared memory by cp.async: the query tile
// once, key and value tiles through a ring.
#pragma once

#include "lowering/sm80/Machine.h"

namespace qm::sm80 {

/// What a thread copies of one operand's tiles: chunk copyChunk(thread) of the
/// half rows of rows copyRow(thread),
/// + copyRows, ... The base address lives in registers, strides and extents in
/// constant memory.
class TileSource {
public:
  /// Tiles of `rows` rows that `load` reads; batch and head are those of the
  /// load.
  TileSource(KernelState &state, attn::LoadTileOp load, int64_t rows);

  /// Writes the base address to shared memory, `offset` bytes from its start.
  void keepInShared(int64_t offset);
  /// Behind the next barrier, copies take the base address from there: it needs
  /// no register any more.
  void releaseBase();

  /// A walk: tiles one after the other from `firstRow` on, all of whose rows
  /// are there, found by an address that is carried from one to the next.
  void beginWalk(Int firstRow);
  void endWalk() { walk = {}; }
  /// Keeps the bytes between two rows of a thread in a register, which each
  /// copy would compute from the stride; until `forgetStep`.
  void keepStep();
  void forgetStep() { step = {}; }
  /// Address of the thread's first chunk in the tile that begins with
  /// `firstRow`.
  Int globalAddress(Int thread, Int firstRow) const;

  Int getWalk() const { return walk; }
  void setWalk(Int address) { walk = address; }

  /// One copy of a thread, 16 bytes: where it comes from, and where it goes.
  struct Chunk {
    Int global; ///< address, with the offset
    int64_t globalOffset;
    mlir::Value exists; ///< i1: in the tensor, else it is zeros; null:
                        ///< certainly
  };
  struct Target {
    int64_t offset;        ///< from Copy::sharedAddress
    mlir::Value takesPart; ///< i1: in the tile; null: certainly
  };

  /// The copies of one tile, one `issue` each: reads of rows past the end
  /// become zeros. Addresses are formed when the first is issued.
  class Copy {
  public:
    Copy(const TileSource &source, Int firstRow, SharedPlace place)
        : source(&source), firstRow(firstRow), place(place) {}
    /// The next tile of the walk of `source`.
    Copy(TileSource &source, SharedPlace place)
        : source(&source), walking(&source), place(place), hasAllRows(true) {}
    /// Every row of the tile is there. With a predicate (i1, null: true) the
    /// tile is copied only where it holds.
    Copy &ofWholeTile(mlir::Value predicate) {
      hasAllRows = true;
      this->predicate = predicate;
      return *this;
    }
    /// The thread's first chunk lies there; null: it is found from the row.
    void from(Int address) { start = address; }
    /// After the last chunk: where the thread's first chunk of the tile after
    /// this one lies.
    Int nextTile() const { return source->advance(global); }
    unsigned size() const;
    void issue(unsigned i);
    void issueAll();

    // For who copies by other means.
    /// Copy `i`; ask in ascending order.
    Chunk at(unsigned i);
    Target target(unsigned i, Int thread) const;
    /// The thread that `at` was asked for.
    Int lastThread() const { return thread; }
    Int sharedAddress(Int thread) const;
    /// i1: every row of the tile exists.
    mlir::Value isWhole() const;
    /// Every chunk is full of columns.
    bool hasWholeRows() const;

  private:
    /// Forms the address of the first chunk.
    void locate();

    const TileSource *source;
    TileSource *walking = nullptr;
    Int firstRow;
    SharedPlace place;
    bool hasAllRows = false;
    mlir::Value predicate;
    Int start, thread, global, rowsLeft, sharedBase;
    mlir::Value isUsed; ///< the row of the last chunk is no padding; null: it
                        ///< is not asked
  };

private:
  /// The first row that is not read.
  Int end() const;
  Int rowOffset(Int row) const;
  Int threadOffset(Int thread) const;
  Int advance(Int global) const;

  KernelState &state;
  mlir::Value tensor;
  int64_t rows, columns; ///< columns of 16 bits
  int64_t realChunks;    ///< of a row; the others are zeros
  bool holdsKeys;        ///< of the loop over key blocks: read up to its bounds
  bool holdsValues;      ///< zeros where a key is padding
  Int base; ///< i64 address of the sequence's first row; null: in shared memory
  std::optional<int64_t> baseOffset;
  /// The thread's part of every address, where there are registers for it.
  struct Own {
    Int global, shared;
  };
  std::optional<Own> own;
  Int step; ///< see keepStep
  Int walk; ///< address of the thread's part of the next tile
};

/// After the loop: the query rows of a warp may be overwritten. It stages its
/// output in its own rows, unless rows of the output have another length.
void waitForQueryRows(KernelState &state);

/// Key and value tiles alternate in a ring of `stages` slots: tile t is key
/// tile t/2 or value tile t/2 and lies in slot t % stages. At the barrier that
/// makes tile t visible, tile t - 1 is dead, and tile t + stages - 1 is copied
/// into its slot.
class TileRing : public TileSupply {
public:
  TileRing(KernelState &state, llvm::ArrayRef<attn::LoadTileOp> loads);

  /// What was issued before belongs to the first group of copies.
  void start(Int firstKey) override;
  /// Waits for the first tile, and so for all that was issued before it.
  void waitForFirst() override;
  llvm::SmallVector<mlir::Value> carried() const override;
  void setCarried(mlir::ValueRange values) override;
  void beginRun(Int) override { inRun = true; }
  void endRun() override { inRun = false; }
  Visible acquire(unsigned index, Int firstKey, Int nextFirstKey) override;
  void finish() override;

private:
  SharedPlace slot(int64_t ahead) const;

  KernelState &state;
  llvm::SmallVector<TileSource> sources;
  bool inRun = false;
  Int current; ///< stages = 3: bytes of the slot of the next tile to use, after
               ///< slot 0
};

} // namespace qm::sm80
