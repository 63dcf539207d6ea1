// What a tile of the attn dialect is once it is spread over the threads of a
// CTA. Warp w has rows w * warpRows ... of a tile, in tiles of 16 rows (`t`);
// lanes as in the PTX ISA, "Matrix fragments for mma.m16n8k16":
//
//   accumulator, 16 x 8 f32:  values 0,1 at row lane/4,     columns 2 (lane %
//   4), + 1
//                             values 2,3 at row lane/4 + 8, the same columns
//   A operand, 16 x 16:       words 0,1: rows lane/4, + 8 of columns 0-7; words
//   2,3: the same rows of columns 8-15
//
// so the accumulators of two neighbouring groups of 8 columns are, packed, one
// A operand.
#pragma once

#include "dialect/AttnOps.h"

#include <variant>

namespace qm::sm80 {

/// A tile of f32 in registers. Values go by columns: what a column needs is
/// done with before the next one begins.
struct Accumulator {
  unsigned rowTiles, groups; ///< of 16 rows; of 8 columns
  llvm::SmallVector<mlir::Value> values;

  Accumulator(unsigned rowTiles, unsigned groups)
      : rowTiles(rowTiles), groups(groups), values(rowTiles * groups * 4) {}
  unsigned index(unsigned t, unsigned group, unsigned element) const {
    return (group * rowTiles + t) * 4 + element;
  }
  mlir::Value &at(unsigned t, unsigned group, unsigned element) {
    return values[index(t, group, element)];
  }
  llvm::MutableArrayRef<mlir::Value> group(unsigned t, unsigned group) {
    return llvm::MutableArrayRef(values).slice(index(t, group, 0), 4);
  }
  /// Of element `e` of `values`: which of the thread's rows (2 t, or 2 t + 1
  /// for the lower half) and columns it is in.
  unsigned rowOf(unsigned e) const { return e / 4 % rowTiles * 2 + e % 4 / 2; }
  unsigned columnOf(unsigned e) const { return e / 4 / rowTiles * 2 + e % 2; }
};

/// A tile in registers, as A operands.
struct Packed {
  unsigned steps; ///< of 16 columns
  llvm::SmallVector<mlir::Value> words;
  unsigned operandWords = 4; ///< Plan::leftWords
  llvm::ArrayRef<mlir::Value> operand(unsigned t, unsigned step) const {
    return llvm::ArrayRef(words).slice((t * steps + step) * operandWords,
                                       operandWords);
  }
};

/// One f32 a row; the thread's rows as Accumulator::rowOf numbers them.
struct Rows {
  llvm::SmallVector<mlir::Value> values;
};

/// Rows of a tensor in shared memory: the query tile, or a tile of the ring.
struct SharedTile {
  attn::LoadTileOp load;
  std::optional<unsigned>
      ringIndex; ///< which tile of a key block; none: the query tile
};

/// A constant not yet spread.
struct Filled {
  float value;
};

using Fragment = std::variant<Accumulator, Packed, Rows, SharedTile, Filled>;

} // namespace qm::sm80
