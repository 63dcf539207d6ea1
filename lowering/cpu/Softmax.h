//===- Softmax.h - score chain and running softmax of a strip ---*- C++ -*-===//
//
// Two passes over a strip's scores: one applies the element-wise chain and
// finds the row maxima, one turns scores into probabilities and sums them. Rows
// lie along the vector, so that nothing is reduced across lanes; the key index,
// batch and head are scalars, the query index is a vector.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "lowering/common/RegionInliner.h"
#include "lowering/cpu/Microkernel.h"

namespace qm::cpu {

/// The element-wise operations between the dot and the softmax, in order:
/// attn.map, attn.mask, attn.cast.
struct ScoreChain {
  llvm::SmallVector<mlir::Operation *> ops;
  const mlir::IRMapping *outer;
  const lowering::RegionEnvironment *environment;

  bool hasMask() const;
};

/// Where a strip's scores lie in the call.
struct ScorePlace {
  mlir::Value firstRow; ///< query index of the strip's first row, i32
  mlir::Value firstKey; ///< key index of the block's first key, i32
  mlir::Value keys;     ///< keys of the block that exist, i64
};

/// Applies `chain` in place and returns the row maxima, a vector a register of
/// the strip, starting from `max`. Where `full` (an i1, or null for "never") is
/// true, attn.mask is left out.
VectorBuilder::Values emitScorePass(VectorBuilder &b, const ScoreChain &chain,
                                    TransposedTile scores,
                                    const ScorePlace &place, mlir::Value full,
                                    mlir::ValueRange max);

/// The factor from scores to base-2 exponents: the attribute's, or log2 e.
float getExp2Scale(mlir::FloatAttr attribute);

/// The second pass. Scores become p, rounded to each of `pTypes` in turn; sums
/// are of unrounded p.
struct SoftmaxStep {
  VectorBuilder::Values sum, alpha;
};
SoftmaxStep emitProbabilityPass(VectorBuilder &b, TransposedTile scores,
                                mlir::Value keys, mlir::ValueRange oldMax,
                                mlir::ValueRange newMax,
                                mlir::ValueRange oldSum, float exp2Scale,
                                llvm::ArrayRef<mlir::Type> pTypes);

/// lse = c max ln 2 + ln(sum), -inf where the sum is 0.
mlir::Value emitLogSumExp(VectorBuilder &b, mlir::Value max, mlir::Value sum,
                          float exp2Scale);

/// The running maximum in the units of lse: c max ln 2.
mlir::Value emitNaturalMax(VectorBuilder &b, mlir::Value max, float exp2Scale);

/// A sink joins the statistics: `max` is the new reference in log2 units,
/// finite, `sum` is relative to it, and the accumulator is to be multiplied by
/// `alpha`. `sink` is in natural units.
struct SinkStep {
  mlir::Value max, sum, alpha;
};
SinkStep emitSink(VectorBuilder &b, mlir::Value max, mlir::Value sum,
                  float exp2Scale, mlir::Value sink);

} // namespace qm::cpu
