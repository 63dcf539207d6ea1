// What the parts of the emitter share while one kernel is emitted.
#pragma once

#include "lowering/gpu/Arguments.h"
#include "lowering/gpu/ControlFlow.h"
#include "lowering/nvvm/Hopper.h"
#include "lowering/sm90/Plan.h"
#include "lowering/sm90/Program.h"

#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/IRMapping.h"

#include <optional>

namespace qm::sm90 {
using gpu::Arguments;
using gpu::emitIf;
using gpu::emitWhile;
using gpu::Int;
using nvvm::LocBuilder;
using nvvm::Values;

/// Where a thread is. `warpgroup` and `warp` are known to be uniform in the
/// warp.
struct Thread {
  Int warpgroup; ///< 0: producer, else consumer + 1
  Int warp;      ///< in the warpgroup
  Int lane;
  Int inGroup; ///< thread of the warpgroup
};

struct KernelState {
  LocBuilder &b;
  const Plan &plan;
  Program &program;
  Arguments &arguments;
  Thread thread;
  Int shared; ///< i32 address of the CTA's shared memory
  mlir::Value queryMap, keyMap, valueMap,
      outputMap; ///< i64 addresses of tensor maps

  mlir::Value f32(float value) const {
    return mlir::arith::ConstantOp::create(b, b.getF32FloatAttr(value));
  }
  mlir::Value boolean(bool value) const {
    return mlir::arith::ConstantIntOp::create(b, b.getI1Type(), value);
  }
  Int i32(int64_t value) const { return Int::constant(b, value); }
  Int extent(attn::Extent kind) const { return arguments.extentOfCall(kind); }
};

/// Which query tile: batch entry or number of the sequence, head, first query
/// row of the sequence, and where the sequence lies if it has a length.
struct TilePlace {
  Int batch, head, row;
  std::optional<gpu::Sequence> sequence;

  Values flatten() const;
  static TilePlace from(KernelState &state, mlir::ValueRange values);
  static unsigned size(KernelState &state);
};

/// A query tile, and the scalars of the kernel's body for it.
struct Tile : TilePlace {
  mlir::IRMapping scalars;

  Tile(KernelState &state, TilePlace place);
  /// From now on extents are those of the tile's sequence. What is emitted for
  /// a tile may alternate with what is for the next.
  void enter(KernelState &state) const;
  /// Rows of the tensors in memory.
  Int queryRow(Int ofSequence) const;
  Int keyRow(Int ofSequence) const;
};

/// f32 of a 64 x n tile spread over a warpgroup, as wgmma has it: of its
/// `values`, e % 4 < 2 lie in row lane / 4 of the warp's 16 rows, the others 8
/// rows below; value e lies in column 8 (e / 4) + 2 (lane % 4) + e % 2.
struct Fragment {
  Values values;

  explicit Fragment(unsigned registers) : values(registers) {}
  /// Which of the thread's two rows, and which of its columns.
  static unsigned rowOf(unsigned e) { return e % 4 / 2; }
  static unsigned columnOf(unsigned e) { return e / 4 * 2 + e % 2; }
  unsigned columns() const { return values.size() / 2; }
};
/// Row of a consumer's 64 rows that the thread's row `row` (0 or 1) is.
Int rowInConsumer(KernelState &state, unsigned row);
/// Column of the tile that the thread's column 0 is; column c is
/// columnOffset(c) further.
Int firstColumn(KernelState &state);
constexpr int64_t columnOffset(unsigned column) {
  return column / 2 * 8 + column % 2;
}

/// Rows of a consumer's 64 that the tile's sequence has: more, or none and
/// less, where it does not end among them.
Int rowsLeft(const Tile &tile, Int consumer);

} // namespace qm::sm90
