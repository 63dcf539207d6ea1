// What differs between the machines with mma.sync: the shape of the
// instruction, how tiles come into shared memory, and who divides a key block.
// The rest of this folder is the same for all of them.
#pragma once

#include "lowering/sm80/Softmax.h"

#include <functional>
#include <memory>

namespace qm::sm80 {

/// A place in the CTA's shared memory: `bytes` known here plus, if set, an i32
/// known to the kernel.
struct SharedPlace {
  int64_t bytes = 0;
  Int dynamic;

  /// The register part of an address at this place.
  Int base(Int address) const { return dynamic ? address + dynamic : address; }
};

/// Where key and value tiles come from while the loop runs. Tile `index` of a
/// key block is its key tile (0) or its value tile (1).
class TileSupply {
public:
  virtual ~TileSupply() = default;

  /// Starts with the tiles of the first key block. The query tile was asked for
  /// before.
  virtual void start(Int firstKey) = 0;
  /// Waits until the query tile can be read.
  virtual void waitForFirst() = 0;

  /// What travels round the loop.
  virtual llvm::SmallVector<mlir::Value> carried() const { return {}; }
  virtual void setCarried(mlir::ValueRange) {}

  /// A run: from now on blocks follow one another and have all their keys, and
  /// so has the one after each.
  virtual void beginRun(Int /*nextFirstKey*/) {}
  virtual void endRun() {}
  /// In a run, before the tiles of a block are asked for: i1, whether there is
  /// a block after it; null: there is.
  void expectNext(mlir::Value exists) { nextExists = exists; }

  /// A tile that all threads may read, and the copies to issue meanwhile: call
  /// `hook(g)` after the g-th group of mma.
  struct Visible {
    SharedPlace place;
    std::function<void(unsigned group)> hook;
  };
  virtual Visible acquire(unsigned index, Int firstKey, Int nextFirstKey) = 0;
  /// Where the first key tile lies, and that of the block after this one, which
  /// can be read behind the hook of the value tile's last group. Asked for
  /// where Plan::readsKeysEarly.
  virtual SharedPlace nextKeys() const {
    llvm_unreachable("a ring's next tile is there behind its barrier only");
  }

  /// After the loop: every copy has landed and every warp is done with the
  /// query tile.
  virtual void finish() = 0;

protected:
  mlir::Value nextExists;
};

class Machine {
public:
  virtual ~Machine() = default;

  /// d = a b + c for one 16x8 tile and 16 columns of a: operands as mma
  /// m16n8k16 has them; c empty: zero.
  virtual nvvm::Values multiply(LocBuilder &b, mlir::Type element,
                                mlir::ValueRange a, mlir::ValueRange bFragment,
                                mlir::ValueRange c) const = 0;
  /// Two f32 rounded to `element` in one i32, `low` in the low half.
  virtual mlir::Value packPair(LocBuilder &b, mlir::Type element,
                               mlir::Value low, mlir::Value high) const = 0;
  /// Copies the query tile to the start of shared memory, or leaves that to the
  /// supply's start.
  virtual void loadQuery(KernelState &state, attn::LoadTileOp load) const = 0;
  /// `loads`: the loads of the loop's body in the order they are used.
  virtual std::unique_ptr<TileSupply>
  makeSupply(KernelState &state,
             llvm::ArrayRef<attn::LoadTileOp> loads) const = 0;
  /// Makes of the accumulators and statistics of warps that share rows one. The
  /// warps that do not hold the result end here.
  virtual void mergeKeyWarps(KernelState &, Accumulator &,
                             SoftmaxStatistics &) const {}
};

/// mma.sync m16n8k16 and cp.async.
const Machine &getAmpere();

} // namespace qm::sm80
