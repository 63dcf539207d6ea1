// The attention program of a scheduled kernel, taken apart by role. The
// pipeline runs these operations in another order than they are written in:
// scores of a block before the value product of the block before it.
#pragma once

#include "dialect/AttnOps.h"

#include <memory>

namespace qm::sm90 {

struct Program {
  attn::KernelOp kernel;
  attn::KeyBlocksOp loop;
  attn::TilePositionOp position;
  llvm::SmallVector<mlir::Operation *>
      scalars; ///< uniform arithmetic before the loop, such as the head of K
               ///< and V

  attn::LoadTileOp query, keys, values;
  attn::DotOp scores;
  llvm::SmallVector<mlir::Operation *>
      chain; ///< attn.map and attn.mask between scores and softmax, in order
  attn::OnlineSoftmaxOp softmax;
  attn::AccumulateOp accumulate;

  attn::NormalizeOp normalize;
  attn::StoreTileOp storeOutput;
  attn::StoreTileOp storeLse, storeMax; ///< null: not asked for

  /// Which keys are no padding (lowering/common/KeyCondition.h); null: all.
  std::shared_ptr<mlir::Region> paddingCondition;

  float exponentFactor; ///< of the base-2 exponent: scores times this are in
                        ///< log2 units
  float scoreBound;     ///< in log2 units; infinite: scores may be anything

  /// Whether the chain holds an attn.mask.
  bool hasMask() const;
  /// Whether the mask's bounds come from a captured buffer: lengths, past which
  /// memory may hold anything. Otherwise every key below Skv is one, and the
  /// bounds only save work.
  bool readsLengths();
  /// Whether late query tiles may need more keys than early ones.
  bool longestFirst() { return !loop.getClassify().empty(); }

  /// Takes `kernel` apart, or reports the operation that does not fit.
  static mlir::FailureOr<Program> get(attn::KernelOp kernel);
};

} // namespace qm::sm90
