// Interval arithmetic that emits IR: a value of a mask region is followed by
// what it can be when query and key run over ranges. Integers carry run-time
// bounds (lo, hi) and compile-time bounds; predicates carry "can be true" and
// "can be false". README.md explains the rules and why they are sound.
#pragma once

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Builders.h"

#include <cstdint>
#include <optional>

namespace qm::passes {

/// What a value can be. Exactly one of three forms:
///  * exact: one known value (`exact`), of any type;
///  * an integer range: lo and hi as i32 values, and static bounds smin <= lo,
///  hi <= smax; of i64 values: a range of their low 32 bits;
///  * a predicate: canTrue and canFalse as i1 values.
/// None of them set: nothing is known.
struct Interval {
  mlir::Value exact;
  mlir::Value lo, hi;
  int64_t smin = INT32_MIN, smax = INT32_MAX;
  mlir::Value canTrue, canFalse;

  bool isUnknown() const { return !exact && !lo && !canTrue; }
};

/// Builds intervals with an OpBuilder at one place in the IR.
class IntervalBuilder {
public:
  IntervalBuilder(mlir::OpBuilder &builder, mlir::Location loc)
      : b(builder), loc(loc) {}

  Interval makeExact(mlir::Value value, int64_t smin = INT32_MIN,
                     int64_t smax = INT32_MAX);
  Interval makeRange(mlir::Value lo, mlir::Value hi, int64_t smin,
                     int64_t smax);
  Interval makePredicate(mlir::Value canTrue, mlir::Value canFalse);
  /// Between two compile-time bounds.
  Interval makeBetween(int64_t smin, int64_t smax);

  Interval add(Interval x, Interval y);
  Interval sub(Interval x, Interval y);
  Interval mul(Interval x, Interval y);
  Interval floorDiv(Interval x, int64_t divisor);
  Interval truncDiv(Interval x, int64_t divisor);
  Interval ceilDiv(Interval x, int64_t divisor);
  Interval floorMod(Interval x, int64_t divisor);
  Interval shiftRight(Interval x, int64_t amount);
  Interval min(Interval x, Interval y);
  Interval max(Interval x, Interval y);
  Interval compare(mlir::arith::CmpIPredicate predicate, Interval x,
                   Interval y);
  Interval logicalAnd(Interval x, Interval y);
  Interval logicalOr(Interval x, Interval y);
  Interval logicalXor(Interval x, Interval y);
  Interval select(Interval condition, Interval x, Interval y);

  /// The same fact in the range form or the predicate form; unknown becomes the
  /// whole type.
  Interval asRange(Interval x);
  /// What elements between `lo` and `hi`, both of one integer type, can be.
  Interval fromElements(mlir::Value lo, mlir::Value hi);
  Interval asPredicate(Interval x);

  mlir::Value constant(int64_t value);
  mlir::Value constantBool(bool value);

private:
  /// A range whose bounds were computed in 64 bits: the whole of i32 if they do
  /// not fit, because then the value wrapped.
  Interval narrow(mlir::Value lo64, mlir::Value hi64, int64_t smin,
                  int64_t smax);
  mlir::Value widen(mlir::Value value);
  mlir::Value cmp(mlir::arith::CmpIPredicate predicate, mlir::Value x,
                  mlir::Value y);
  mlir::Value both(mlir::Value x, mlir::Value y);
  mlir::Value either(mlir::Value x, mlir::Value y);

  mlir::OpBuilder &b;
  mlir::Location loc;
};

} // namespace qm::passes
