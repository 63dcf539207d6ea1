// fused -> fused: integer division and remainder by 0 yield 0, and INT_MIN / -1
// wraps, instead of being undefined.
#include "passes/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace qm;

namespace qm::passes {
#define GEN_PASS_DEF_GUARDDIVISION
#include "passes/Passes.h.inc"
} // namespace qm::passes

namespace {

bool isSignedDivision(Operation *op) {
  return isa<arith::DivSIOp, arith::FloorDivSIOp, arith::CeilDivSIOp,
             arith::RemSIOp>(op);
}
bool isRemainder(Operation *op) {
  return isa<arith::RemSIOp, arith::RemUIOp>(op);
}
bool isDivision(Operation *op) {
  return isSignedDivision(op) ||
         isa<arith::DivUIOp, arith::CeilDivUIOp, arith::RemUIOp>(op);
}

/// A divisor that can neither be 0 nor, for a signed operation, -1.
bool isSafe(Operation *op) {
  APInt divisor;
  if (!matchPattern(op->getOperand(1), m_ConstantInt(&divisor)))
    return false;
  return !divisor.isZero() && !(isSignedDivision(op) && divisor.isAllOnes());
}

void guard(Operation *op) {
  OpBuilder b(op);
  Location loc = op->getLoc();
  Type type = op->getResult(0).getType();
  Value dividend = op->getOperand(0), divisor = op->getOperand(1);
  auto constant = [&](int64_t value) -> Value {
    return arith::ConstantOp::create(b, loc, b.getIntegerAttr(type, value));
  };
  auto select = [&](Value condition, Value x, Value y) -> Value {
    return arith::SelectOp::create(b, loc, condition, x, y);
  };
  auto equals = [&](int64_t value) -> Value {
    return arith::CmpIOp::create(b, loc, arith::CmpIPredicate::eq, divisor,
                                 constant(value));
  };
  Value isZero = equals(0), special = isZero, isMinusOne;
  if (isSignedDivision(op)) {
    isMinusOne = equals(-1);
    special = arith::OrIOp::create(b, loc, isZero, isMinusOne);
  }
  op->setOperand(1, select(special, constant(1), divisor));

  b.setInsertionPointAfter(op);
  Value result = op->getResult(0), guarded;
  if (isRemainder(op)) {
    guarded = select(special, constant(0), result);
  } else {
    Value quotient = result;
    if (isMinusOne) {
      Value negated = arith::SubIOp::create(b, loc, constant(0), dividend);
      quotient = select(isMinusOne, negated, quotient);
    }
    guarded = select(isZero, constant(0), quotient);
  }
  result.replaceUsesWithIf(guarded, [&](OpOperand &use) {
    Operation *user = use.getOwner();
    return user->getBlock() != op->getBlock() ||
           guarded.getDefiningOp()->isBeforeInBlock(user);
  });
}

struct GuardDivision : qm::passes::impl::GuardDivisionBase<GuardDivision> {
  void runOnOperation() override {
    SmallVector<Operation *> divisions;
    getOperation().walk([&](Operation *op) {
      if (isDivision(op) && !isSafe(op))
        divisions.push_back(op);
    });
    for (Operation *op : divisions) {
      guard(op);
      ++numGuarded;
    }
  }
};

} // namespace
