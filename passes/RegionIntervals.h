// A mask region evaluated on intervals: one Interval for each of its values.
#pragma once

#include "dialect/AttnOps.h"
#include "passes/Interval.h"

#include "mlir/IR/IRMapping.h"

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"

namespace qm::passes {

/// Query and key indices and extents are below this: the runtime refuses longer
/// sequences. It keeps sums such as i + Skv - Sq inside 32 bits.
constexpr int64_t maxLength = int64_t(1) << 30;

/// The value of an integer constant.
std::optional<int64_t> getConstant(mlir::Value value);

/// Evaluates one region; what it needs is cloned at the builder's insertion
/// point.
class RegionIntervals {
public:
  RegionIntervals(mlir::OpBuilder &builder, mlir::Location loc)
      : intervals(builder, loc), builder(builder) {}

  /// Evaluates the body of a mask for query rows [ilo, ihi] and keys [jlo,
  /// jhi]; the predicate that it yields.
  Interval evaluate(attn::MaskOp mask, mlir::Value ilo, mlir::Value ihi,
                    mlir::Value jlo, mlir::Value jhi);

  /// What is known of a value of the region, or of one from outside.
  Interval get(mlir::Value value);

  /// Values whose range may be all there is: a buffer's elements are not looked
  /// for at such an index.
  void leaveUnread(const llvm::DenseSet<mlir::Value> *indices) {
    unread = indices;
  }

  /// Operations that no rule covers.
  unsigned unknownOperations() const { return unknown; }

  IntervalBuilder intervals;

private:
  Interval liftOperation(mlir::Operation &op);
  Interval liftLoad(attn::LoadOp op);
  Interval liftNeighbours(mlir::Value first, mlir::Value second,
                          Interval indices);
  Interval liftExtrema(attn::LoadOp op, mlir::IRMapping &firsts,
                       unsigned dimension, Interval indices);
  bool isStep(mlir::Operation &op);
  std::optional<Interval> liftExact(mlir::Operation &op);
  Interval liftByRule(mlir::Operation &op);
  Interval liftWithConstant(mlir::Operation &op);
  Interval liftSubtraction(mlir::arith::SubIOp op);
  Interval liftAbsolute(Interval x);
  Interval liftComparison(mlir::arith::CmpIOp op);
  Interval liftExtension(mlir::Operation &op);

  mlir::OpBuilder &builder;
  llvm::DenseMap<mlir::Value, Interval> facts;
  llvm::DenseSet<mlir::Value> steps; ///< keep their value over runs of indices
  const llvm::DenseSet<mlir::Value> *unread = nullptr;
  unsigned unknown = 0;
};

} // namespace qm::passes
