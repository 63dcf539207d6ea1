// fused -> fused: floor division and remainder of indices by powers of two
// become shifts and masks.
#include "passes/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace qm;

namespace qm::passes {
#define GEN_PASS_DEF_REDUCEDIVISION
#include "passes/Passes.h.inc"
} // namespace qm::passes

namespace {

/// n where `value` is the constant 2^n.
std::optional<unsigned> exponentOf(Value value) {
  APInt constant;
  if (!matchPattern(value, m_ConstantInt(&constant)) ||
      !constant.isStrictlyPositive() || !constant.isPowerOf2())
    return std::nullopt;
  return constant.logBase2();
}

Value constantLike(OpBuilder &b, Value value, int64_t constant) {
  return arith::ConstantOp::create(b, value.getLoc(),
                                   b.getIntegerAttr(value.getType(), constant));
}

/// floor(x / 2^n) is x >> n, for negative x as well.
bool reduceQuotient(arith::FloorDivSIOp op) {
  std::optional<unsigned> n = exponentOf(op.getRhs());
  if (!n)
    return false;
  OpBuilder b(op);
  Value amount = constantLike(b, op.getRhs(), *n);
  Value shifted = arith::ShRSIOp::create(b, op.getLoc(), op.getLhs(), amount);
  op.replaceAllUsesWith(shifted);
  op.erase();
  return true;
}

/// x - (x >> n) 2^n is x & (2^n - 1).
bool reduceRemainder(arith::SubIOp op) {
  auto product = op.getRhs().getDefiningOp<arith::MulIOp>();
  auto shifted = product ? product.getLhs().getDefiningOp<arith::ShRSIOp>()
                         : arith::ShRSIOp();
  std::optional<unsigned> n =
      shifted ? exponentOf(product.getRhs()) : std::nullopt;
  APInt amount;
  if (!n || shifted.getLhs() != op.getLhs() ||
      !matchPattern(shifted.getRhs(), m_ConstantInt(&amount)) || amount != *n)
    return false;
  OpBuilder b(op);
  Value ones = constantLike(b, op.getLhs(), (int64_t(1) << *n) - 1);
  Value masked = arith::AndIOp::create(b, op.getLoc(), op.getLhs(), ones);
  op.replaceAllUsesWith(masked);
  op.erase();
  for (Operation *unused : {product.getOperation(), shifted.getOperation()})
    if (unused->use_empty())
      unused->erase();
  return true;
}

struct ReduceDivision : qm::passes::impl::ReduceDivisionBase<ReduceDivision> {
  void runOnOperation() override {
    SmallVector<arith::FloorDivSIOp> quotients;
    SmallVector<arith::SubIOp> differences;
    getOperation().walk(
        [&](arith::FloorDivSIOp op) { quotients.push_back(op); });
    getOperation().walk([&](arith::SubIOp op) { differences.push_back(op); });
    for (arith::FloorDivSIOp op : quotients)
      numReduced += reduceQuotient(op);
    for (arith::SubIOp op : differences)
      numReduced += reduceRemainder(op);
  }
};

} // namespace
