// What one kernel needs, as numbers: shapes, how warps divide the tile, what
// lies where in shared memory. Read from the scheduled kernel; everything this
// lowering cannot do is refused here, before anything is emitted.
#pragma once

#include "dialect/AttnOps.h"
#include "lowering/sm80/Layout.h"

namespace qm::sm80 {

/// How the matrix unit multiplies the elements of q, k and v.
enum class Products {
  Native, ///< f16 or bf16, as they are
  Tf32,   ///< f32, rounded to tf32
  Bf16x3  ///< f32, as the sum of two bf16: WideOperands.h
};

struct Plan {
  mlir::Type element; ///< f16, bf16 or f32: operands of both products
  Products products = Products::Native;
  int64_t headDim;      ///< columns of Q and K
  int64_t valueDim;     ///< columns of V and O
  int64_t tileM;        ///< query rows of a CTA
  int64_t tileN;        ///< keys of a block
  int64_t warps;        ///< along the rows
  int64_t keyWarps = 1; ///< along the keys of a block, each with an accumulator
                        ///< of its own
  int64_t rowTiles; ///< 16-row tiles a warp: each key or value fragment feeds
                    ///< so many mma
  int64_t stages;   ///< slots of the ring of key and value tiles
  bool pingPong = false; ///< two groups of warps take turns at the products:
                         ///< PingPong.h
  bool oneLoop = false;  ///< full and masked blocks share the code of one loop
  bool hasLengths = false; ///< sequences have lengths of their own
  /// There is room in shared memory for the tile's sequence and rows; else they
  /// are searched again after the loop.
  bool keepsPosition = false;
  /// A thread's part of the addresses of copies stays in registers.
  bool keepsCopyAddresses = false;
  /// The first 16-column steps of Q's fragments stay in registers; the others
  /// are read again for every key block.
  unsigned residentQuerySteps = 0;
  /// Key and value fragments are read this many groups of mma before their use.
  unsigned fragmentsAhead = 2;
  /// Every so many groups of mma a fence that ptxas moves no read of shared
  /// memory across: left alone, it gathers reads in bursts, for which the
  /// products then wait. 0: none.
  unsigned groupsToFence = 0;
  /// The first key fragments of a block are read while the product before them
  /// ends: in ping-pong, or if their tile is there already.
  bool readsKeysEarly = false;

  int64_t threads() const { return 32 * warps * keyWarps; }
  int64_t warpRows() const { return 16 * rowTiles; }
  /// Keys of a block that a warp has.
  int64_t warpKeys() const { return tileN / keyWarps; }
  /// Rows that one pass of all threads copies: eight threads a half row.
  int64_t copyRows() const { return threads() / 8; }

  /// 16-column steps of Q K^T, and of the accumulator; the last one's columns
  /// past the head dim are zeros.
  unsigned columnSteps() const { return (headDim + 15) / 16; }
  unsigned columnTiles() const { return (valueDim + 15) / 16; }
  /// Groups of mma (16 keys times 16 columns) of the product with the key tile
  /// (0) or the value tile (1) of a block.
  unsigned groupsOf(unsigned tile) const {
    return (tile == 0 ? columnSteps() : columnTiles()) *
           unsigned(warpKeys() / 16);
  }
  /// Operands of 32 bits.
  bool wide() const { return products != Products::Native; }
  int64_t elementBytes() const { return wide() ? 4 : 2; }
  /// Columns of 16 bits that a row of `columns` elements takes in shared
  /// memory.
  int64_t halfColumns(int64_t columns) const {
    return wide() ? wideColumns(columns) : columns;
  }
  /// Registers of an A operand, 16 rows at 16 columns, and of a B operand, 16
  /// rows at 8 columns.
  unsigned leftWords() const { return wide() ? 8 : 4; }
  unsigned rightWords() const { return leftWords() / 2; }

  int queryRowBytes() const { return rowBytesFor(halfColumns(headDim)); }
  int valueRowBytes() const { return rowBytesFor(halfColumns(valueDim)); }
  int64_t widestRowBytes() const {
    return std::max(queryRowBytes(), valueRowBytes());
  }

  /// Bytes; the query tile also stages the output.
  int64_t queryBytes() const { return tileM * widestRowBytes(); }
  int64_t slotBytes() const { return tileN * widestRowBytes(); }
  int64_t slotOffset(int64_t slot) const {
    return queryBytes() + slot * slotBytes();
  }
  /// Key and value tiles in shared memory; ping-pong has three of each.
  int64_t slots() const { return pingPong ? 6 : stages; }
  /// Where the base address of tensor `index` of the ring is kept if registers
  /// are scarce.
  int64_t baseOffset(int64_t index) const {
    return slotOffset(slots()) + 8 * index;
  }
  /// Where the tile's sequence and rows wait for the end of the loop.
  int64_t positionOffset() const { return baseOffset(2); }
  static constexpr int64_t positionBytes = 32;
  int64_t sharedBytes() const {
    if (keepsPosition)
      return positionOffset() + positionBytes;
    return registersAreScarce() ? baseOffset(2) : slotOffset(slots());
  }

  /// Registers a thread for scores, accumulator and resident query fragments.
  int64_t arrayRegisters(bool withQuery) const;

  /// Whether what can be derived again should not stay in registers.
  bool registersAreScarce() const;

  /// Decides keepsPosition; everything else is set.
  void placePosition(int64_t sharedBytesPerCta) {
    keepsPosition =
        hasLengths && positionOffset() + positionBytes <= sharedBytesPerCta;
  }

  static mlir::FailureOr<Plan> get(attn::KernelOp kernel);
};

/// Sets the operand type; refuses types and a #attn.precision that mma.sync
/// does not have.
llvm::LogicalResult checkPrecision(attn::KernelOp kernel, Plan &plan);

} // namespace qm::sm80
