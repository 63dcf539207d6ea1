//===- KernelEmitter.h - a scheduled kernel as a function -------*- C++ -*-===//
//
// Walks the body of an attn.kernel and emits the CPU entry for it:
//
//   for tile in [tile_begin, tile_end):
//     before the key loop: Q transposed to scratch, running state filled
//     for each key block that the mask may keep:
//       keys and values of the block (converted if they are not f32)
//       for each strip of the tile: scores, chain, softmax, accumulate
//     after the key loop: normalise, store
//
// The body may be any program of the attn tile operations with that shape; what
// does not have it is diagnosed, never guessed.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "lowering/common/TargetInfo.h"
#include "lowering/cpu/Softmax.h"
#include "lowering/cpu/TileMemory.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"

#include <optional>
#include <variant>

namespace qm::cpu {

class KernelEmitter {
public:
  KernelEmitter(attn::KernelOp kernel, const lowering::TargetInfo &target);

  /// Emits the function before the kernel, which stays. Errors are reported.
  mlir::FailureOr<mlir::LLVM::LLVMFuncOp> emit();

private:
  /// Keys or values of the current block, f32.
  struct KeyTile {
    ScalarRows rows;
    mlir::Type valueType; ///< type whose values the f32 hold
    int64_t columns;
  };
  /// A strip's scores, with the element-wise operations still to apply, or its
  /// probabilities once the softmax has run.
  struct ScoreTile {
    TransposedTile tile;
    llvm::SmallVector<mlir::Operation *> pending;
  };
  /// A statistic of the current strip, in registers.
  using StripStat = VectorBuilder::Values;
  using Tile = std::variant<QueryTile, KeyTile, ScoreTile, StripStat>;

  mlir::LLVM::LLVMFuncOp makeFunction();
  mlir::LogicalResult emitTile(mlir::Value tile);
  mlir::LogicalResult emitOutsideLoop(mlir::Operation &op);
  /// Scalar arithmetic on indices; false if `op` is none.
  bool emitScalar(mlir::Operation &op);

  // The loop over key blocks.
  mlir::LogicalResult emitKeyBlocks(attn::KeyBlocksOp loop);
  std::pair<mlir::Value, mlir::Value> boundKeys(attn::KeyBlocksOp loop,
                                                mlir::Value keys);
  /// What classify says of some rows and keys (first and count, i64).
  struct Kind {
    mlir::Value any, all;
  };
  Kind classify(attn::KeyBlocksOp loop, mlir::Value firstRow,
                mlir::Value rowCount, mlir::Value key, mlir::Value keyCount);
  void trimKeys(attn::KeyBlocksOp loop, mlir::Value rowCount);
  ScalarRows stripRowsOf(const KeyTile &tile);
  mlir::LogicalResult emitBlock(attn::KeyBlocksOp loop);
  mlir::LogicalResult emitStrip(attn::KeyBlocksOp loop, mlir::Value scores);
  bool isPerBlock(mlir::Operation &op) const;
  mlir::LogicalResult emitPerBlock(mlir::Operation &op);
  void clearPadding(mlir::Value valueRows, int64_t columns);
  mlir::LogicalResult emitPerStrip(mlir::Operation &op);
  mlir::LogicalResult emitSoftmax(attn::OnlineSoftmaxOp op);
  mlir::LogicalResult emitYield(attn::KeyBlocksOp loop);

  mlir::LogicalResult emitNormalize(attn::NormalizeOp op);
  mlir::LogicalResult emitStore(attn::StoreTileOp op);

  template <typename T>
  T *find(mlir::Value value) {
    auto found = tiles.find(value);
    return found == tiles.end() ? nullptr : std::get_if<T>(&found->second);
  }
  mlir::LogicalResult unsupported(mlir::Operation &op, llvm::StringRef why);
  QueryTile allocateQueryTile(int64_t columns);

  attn::KernelOp kernel;
  attn::ScheduleAttr schedule;
  const lowering::TargetInfo &target;
  VectorBuilder b;
  int64_t vectors; ///< registers across a strip
  bool longestFirst;

  std::optional<ArgumentSlots> slots;
  std::optional<Scratch> scratch;
  lowering::RegionEnvironment environment;
  /// Which keys are none that is padding; null: all.
  std::unique_ptr<mlir::Region> paddingCondition;
  mlir::IRMapping scalars;
  llvm::DenseMap<mlir::Value, Tile> tiles;
  TileRows rows;
  // The block being emitted: first key and number of keys, i64.
  mlir::Value firstKey, blockKeys;
  // The strip being emitted: its number, its first query row, the keys of the
  // block that it leaves out at the front, and how many it takes; i64. `full`:
  // whether the mask keeps all of them, null if that is never known.
  mlir::Value strip, stripFirstRow, skippedKeys, stripKeys, full;
};

} // namespace qm::cpu
