// What one kernel needs, as numbers: shapes, how warps divide the tile, what
// lies where in shared memory. Read from the scheduled kernel; everything this
// lowering cannot do is refused here, before anything is emitted.
#pragma once

#include "dialect/AttnOps.h"

namespace qm::sm80 {

struct Plan {
  mlir::Type element; ///< f16 or bf16: operands of both products
  int64_t headDim;    ///< columns of Q and K
  int64_t valueDim;   ///< columns of V and O
  int64_t tileM;      ///< query rows of a CTA
  int64_t tileN;      ///< keys of a block
  int64_t warps;      ///< along the rows
  int64_t rowTiles;   ///< 16-row tiles a warp: each key or value fragment feeds
                      ///< so many mma
  int64_t stages;     ///< slots of the ring of key and value tiles
  bool queryInRegisters; ///< Q's fragments stay in registers; else they are
                         ///< read again for every key block

  int64_t threads() const { return 32 * warps; }
  int64_t warpRows() const { return 16 * rowTiles; }
  /// Rows that one pass of all threads copies: eight threads a half row.
  int64_t copyRows() const { return threads() / 8; }

  /// Bytes; the query tile also stages the output.
  int64_t queryBytes() const { return 2 * tileM * std::max(headDim, valueDim); }
  int64_t slotBytes() const { return 2 * tileN * std::max(headDim, valueDim); }
  int64_t slotOffset(int64_t slot) const {
    return queryBytes() + slot * slotBytes();
  }
  /// Where the base address of tensor `index` of the ring is kept if registers
  /// are scarce.
  int64_t baseOffset(int64_t index) const {
    return slotOffset(stages) + 8 * index;
  }
  int64_t sharedBytes() const {
    return registersAreScarce() ? baseOffset(2) : slotOffset(stages);
  }

  /// Registers a thread for scores, accumulator and resident query fragments.
  int64_t arrayRegisters(bool withQuery) const;

  /// Whether what can be derived again should not stay in registers.
  bool registersAreScarce() const;

  static mlir::FailureOr<Plan> get(attn::KernelOp kernel);
};

} // namespace qm::sm80
