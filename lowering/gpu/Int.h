// Integers of the program being emitted, with operators: `tid % 8 + row * 16`
// emits arith operations. Layout formulas are templates over Int or a plain
// integer, so that what the kernel computes is what the tests check.
#pragma once

#include "lowering/nvvm/NVVMEmit.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

namespace qm::gpu {
using nvvm::LocBuilder;

/// An i32 or i64 value. `/`, `%` and `>>` are unsigned: all operands here are
/// counts.
class Int {
public:
  Int() = default;
  Int(LocBuilder &b, mlir::Value value) : builder(&b), value(value) {}
  static Int constant(LocBuilder &b, int64_t value) {
    return {b, mlir::arith::ConstantIntOp::create(b, b.getI32Type(), value)};
  }

  mlir::Value get() const { return value; }
  operator mlir::Value() const { return value; }
  explicit operator bool() const { return bool(value); }

  /// Sign-extended to i64.
  Int wide() const {
    return {*builder, mlir::arith::ExtSIOp::create(
                          *builder, builder->getI64Type(), value)};
  }
  mlir::Value lessThan(Int other) const {
    return compare(mlir::arith::CmpIPredicate::slt, other);
  }
  mlir::Value atMost(Int other) const {
    return compare(mlir::arith::CmpIPredicate::sle, other);
  }
  mlir::Value equals(Int other) const {
    return compare(mlir::arith::CmpIPredicate::eq, other);
  }
  mlir::Value lessThan(int64_t other) const { return lessThan(like(other)); }
  mlir::Value equals(int64_t other) const { return equals(like(other)); }

  Int min(Int other) const { return binary<mlir::arith::MinSIOp>(other); }
  Int max(Int other) const { return binary<mlir::arith::MaxSIOp>(other); }

#define QM_INT_OPERATOR(symbol, Op)                                            \
  friend Int operator symbol(Int lhs, Int rhs) {                               \
    return lhs.binary<mlir::arith::Op>(rhs);                                   \
  }                                                                            \
  friend Int operator symbol(Int lhs, int64_t rhs) {                           \
    return lhs.binary<mlir::arith::Op>(lhs.like(rhs));                         \
  }
  QM_INT_OPERATOR(+, AddIOp)
  QM_INT_OPERATOR(-, SubIOp)
  QM_INT_OPERATOR(*, MulIOp)
  QM_INT_OPERATOR(/, DivUIOp)
  QM_INT_OPERATOR(%, RemUIOp)
  QM_INT_OPERATOR(^, XOrIOp)
  QM_INT_OPERATOR(&, AndIOp)
  QM_INT_OPERATOR(<<, ShLIOp)
  QM_INT_OPERATOR(>>, ShRUIOp)
#undef QM_INT_OPERATOR

private:
  Int like(int64_t constant) const {
    return {*builder, mlir::arith::ConstantIntOp::create(
                          *builder, value.getType(), constant)};
  }
  template <class Op>
  Int binary(Int other) const {
    return {*builder, builder->createOrFold<Op>(value, other.value)};
  }
  mlir::Value compare(mlir::arith::CmpIPredicate predicate, Int other) const {
    return mlir::arith::CmpIOp::create(*builder, predicate, value, other.value);
  }

  LocBuilder *builder = nullptr;
  mlir::Value value;
};

} // namespace qm::gpu
