// What the parts of the emitter share while one kernel is emitted.
#pragma once

#include "lowering/gpu/Arguments.h"
#include "lowering/gpu/ControlFlow.h"
#include "lowering/sm80/Fragments.h"
#include "lowering/sm80/Plan.h"

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/IRMapping.h"

#include <memory>

namespace qm::sm80 {
using namespace gpu;

/// Where a thread is. `warp` is uniform in the warp.
struct Thread {
  Int index, lane, warp;
};
Thread readThread(LocBuilder &b, bool again = false);

/// Which query tile a CTA has.
struct TilePosition {
  Int batch; ///< with lengths: the number of the sequence
  Int head;
  Int row; ///< first query row, of the sequence
};

class Machine;
class PaddingKeys;

struct KernelState {
  LocBuilder &b;
  const Plan &plan;
  const Machine &machine;
  Arguments &arguments;
  Thread thread;
  TilePosition tile;
  Int shared;              ///< i32 address of the CTA's shared memory
  mlir::IRMapping scalars; ///< scalars of the kernel's body
  /// The first key that no row of the tile keeps, at most Skv, where a captured
  /// buffer says it; null: Skv. Tiles are not read from there on: what lies
  /// there, NaN perhaps, meets no probability of 0.
  Int keyEnd = {};
  /// Keys before it that are padding; null: none are.
  std::shared_ptr<PaddingKeys> padding = {};
  /// The row maximum is an output: the softmax's reference is the maximum, not
  /// some number near it.
  bool exactMax = false;

  /// Behind the loop, warps along the keys that had rows in common have divided
  /// them.
  bool rowsAreDivided = false;

  mlir::Value f32(float value) const {
    return mlir::arith::ConstantOp::create(b, b.getF32FloatAttr(value));
  }
  Int scalar(mlir::Value value) const {
    return {b, scalars.lookupOrDefault(value)};
  }
  /// i64 address of a row of q, k, v or an output: `row` of the tile's
  /// sequence, null for its first; `ofKeys` of k and v.
  Int rowAddress(mlir::Value tensor, mlir::Value batch, mlir::Value head,
                 Int row, bool ofKeys = false) const;
  /// The warp's number along the rows, and its first key of a block.
  Int rowWarp(const Thread &thread) const {
    if (plan.keyWarps != 1)
      return thread.warp % plan.warps;
    if (!plan.pingPong)
      return thread.warp;
    // The two groups have alternate strips: a diagonal costs both the same.
    int64_t warps = plan.warps / 2;
    return thread.warp % warps * 2 + thread.warp / warps;
  }
  /// Rows whose results a warp holds, and the first of them, of the tile.
  int64_t heldRows() const {
    return rowsAreDivided ? plan.warpRows() / plan.keyWarps : plan.warpRows();
  }
  Int firstRowOfWarp(const Thread &thread) const {
    Int first = rowWarp(thread) * plan.warpRows();
    return rowsAreDivided ? first + thread.warp / plan.warps * heldRows()
                          : first;
  }
  Int firstKeyOfWarp(const Thread &thread) const {
    return thread.warp / plan.warps * plan.warpKeys();
  }
  /// Row of the tile that the thread's row `row` (see Accumulator::rowOf) is,
  /// and column of its column `column`.
  Int rowOfTile(const Thread &thread, unsigned row) const {
    return firstRowOfWarp(thread) + thread.lane / 4 +
           int64_t(row / 2 * 16 + row % 2 * 8);
  }
  Int columnOfTile(const Thread &thread, unsigned column) const {
    Int inWarp = (thread.lane % 4) * 2 + int64_t(column / 2 * 8 + column % 2);
    return plan.keyWarps == 1 ? inWarp : firstKeyOfWarp(thread) + inWarp;
  }
};

} // namespace qm::sm80
