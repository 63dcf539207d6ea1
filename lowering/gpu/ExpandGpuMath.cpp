// qm-expand-gpu-math: math of element-wise regions in terms the GPU has.
// ex2.approx (math.exp2 here) is within 2 ulp; what is made of it below stays
// within 4.
#include "lowering/common/ExpandTrigonometry.h"
#include "lowering/common/KernelTarget.h"
#include "lowering/gpu/Passes.h"

#include "mlir/Dialect/Arith/Transforms/Passes.h"
#include "mlir/Dialect/Math/Transforms/Passes.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

#include <cmath>

namespace qm::gpu {
#define GEN_PASS_DEF_EXPANDGPUMATH
#include "lowering/gpu/Passes.h.inc"
} // namespace qm::gpu

using namespace mlir;

namespace {

/// f32 arithmetic at a pattern's location.
struct Floats {
  ImplicitLocOpBuilder b;
  Floats(Operation *op, PatternRewriter &rewriter)
      : b(op->getLoc(), rewriter) {}

  Value constant(double value) {
    return arith::ConstantOp::create(b, b.getF32FloatAttr(float(value)));
  }
  Value mul(Value x, Value y) { return arith::MulFOp::create(b, x, y); }
  Value add(Value x, Value y) { return arith::AddFOp::create(b, x, y); }
  Value fma(Value x, Value y, Value z) {
    return math::FmaOp::create(b, x, y, z);
  }
  Value exp2(Value x) { return math::Exp2Op::create(b, x); }
  Value abs(Value x) { return math::AbsFOp::create(b, x); }
  Value less(Value x, double bound) {
    return arith::CmpFOp::create(b, arith::CmpFPredicate::OLT, x,
                                 constant(bound));
  }
  Value select(Value condition, Value yes, Value no) {
    return arith::SelectOp::create(b, condition, yes, no);
  }
};

/// e^x = 2^t (1 + r ln 2) with t = x log2 e rounded and r what the rounding
/// lost: without r the relative error would grow with |x|.
struct ExpandExp : OpRewritePattern<math::ExpOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(math::ExpOp op,
                                PatternRewriter &rewriter) const override {
    if (!op.getType().isF32())
      return failure();
    Floats f(op, rewriter);
    Value x = op.getOperand();
    float high = float(M_LOG2E), low = float(M_LOG2E - double(high));
    Value t = f.mul(x, f.constant(high));
    Value negated = arith::NegFOp::create(f.b, t);
    Value lost = f.fma(x, f.constant(low), f.fma(x, f.constant(high), negated));
    Value e = f.exp2(t);
    Value corrected = f.fma(e, f.mul(lost, f.constant(M_LN2)), e);
    // Out of the range of finite results e is 0 or inf already, and the
    // correction could make NaN of it.
    rewriter.replaceOp(op, f.select(f.less(f.abs(t), 128.0), corrected, e));
    return success();
  }
};

/// Whether all that becomes of `value` is a term of what the region yields: a
/// score, of which an absolute error counts.
bool isTermOfResult(Value value) {
  SetVector<Operation *> users(value.user_begin(), value.user_end());
  for (unsigned i = 0; i < users.size(); ++i) {
    Operation *user = users[i];
    if (isa<qm::attn::YieldOp>(user))
      continue;
    bool scaled = isa<arith::MulFOp>(user) &&
                  llvm::any_of(user->getOperands(), [](Value operand) {
                    return matchPattern(operand, m_Constant());
                  });
    if (!scaled && !isa<arith::AddFOp, arith::SubFOp>(user))
      return false;
    users.insert(user->user_begin(), user->user_end());
  }
  return true;
}

/// tanh x = 1 - 2 / (1 + 2^(2 x log2 e)), within a few units in the last place
/// of 1, and a polynomial where that cancels and the relative error counts.
/// Where an approximation is allowed the GPU's own instruction stays.
struct ExpandTanh : OpRewritePattern<math::TanhOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(math::TanhOp op,
                                PatternRewriter &rewriter) const override {
    if (!op.getType().isF32() ||
        bitEnumContainsAny(op.getFastmath(), arith::FastMathFlags::afn))
      return failure();
    Floats f(op, rewriter);
    Value x = op.getOperand();
    // Beyond 2^31 tanh is 1 in f32. 1 + e is 1 to 2^31 then: its reciprocal
    // needs none of a division's care, and elements may share one.
    Value exponent = arith::MinimumFOp::create(
        f.b, f.mul(x, f.constant(2.0 * M_LOG2E)), f.constant(31.0));
    Value quotient = arith::DivFOp::create(
        f.b, f.constant(-2.0), f.add(f.exp2(exponent), f.constant(1.0)),
        arith::FastMathFlags::arcp);
    Value large = f.add(quotient, f.constant(1.0));
    if (isTermOfResult(op.getResult())) {
      rewriter.replaceOp(op, large);
      return success();
    }
    // x + x^3 p(x^2) with the least largest relative error up to `limit`,
    // 4.1e-8.
    constexpr double limit = 0.35;
    Value square = f.mul(x, x);
    Value p = f.constant(-0.0491485);
    for (double coefficient : {0.13299825, -0.33332663})
      p = f.fma(p, square, f.constant(coefficient));
    Value small = f.fma(f.mul(p, square), x, x);
    rewriter.replaceOp(op, f.select(f.less(f.abs(x), limit), small, large));
    return success();
  }
};

/// x / c = x (1/c), half an ulp from the division's own error, where 1/c is a
/// normal number.
struct DivideByConstant : OpRewritePattern<arith::DivFOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(arith::DivFOp op,
                                PatternRewriter &rewriter) const override {
    APFloat divisor(0.0f);
    if (!op.getType().isF32() ||
        !matchPattern(op.getRhs(), m_ConstantFloat(&divisor)))
      return failure();
    float inverse = 1.0f / divisor.convertToFloat();
    if (!std::isnormal(inverse))
      return failure();
    Floats f(op, rewriter);
    rewriter.replaceOp(op, f.mul(op.getLhs(), f.constant(inverse)));
    return success();
  }
};

/// (x a) b = x (a b), as exact as before, where a b is a normal number.
struct MultiplyByConstants : OpRewritePattern<arith::MulFOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(arith::MulFOp op,
                                PatternRewriter &rewriter) const override {
    auto inner = op.getLhs().getDefiningOp<arith::MulFOp>();
    APFloat first(0.0f), second(0.0f);
    if (!inner || !op.getType().isF32() ||
        !matchPattern(op.getRhs(), m_ConstantFloat(&second)) ||
        !matchPattern(inner.getRhs(), m_ConstantFloat(&first)))
      return failure();
    double product = double(first.convertToFloat()) * second.convertToFloat();
    if (!std::isnormal(float(product)))
      return failure();
    Floats f(op, rewriter);
    rewriter.replaceOp(op, f.mul(inner.getLhs(), f.constant(product)));
    return success();
  }
};

struct ExpandGpuMath : qm::gpu::impl::ExpandGpuMathBase<ExpandGpuMath> {
  void runOnOperation() override {
    const qm::lowering::TargetInfo *target =
        qm::lowering::getTarget(getOperation());
    if (!target || target->sm == 0)
      return;
    RewritePatternSet patterns(&getContext());
    patterns.add<ExpandExp, ExpandTanh, DivideByConstant, MultiplyByConstants>(
        &getContext());
    qm::lowering::populateTrigonometryPatterns(patterns, /*fused=*/true);
    arith::populateCeilFloorDivExpandOpsPatterns(patterns);
    // Every function with an approximation, except those above and what the GPU
    // has.
    populateMathPolynomialApproximationPatterns(patterns, [](StringRef name) {
      return !llvm::is_contained(
          {"math.exp", "math.tanh", "math.exp2", "math.rsqrt"}, name);
    });
    math::populateExpansionPatterns(patterns, {"powf", "tan", "sinh", "cosh"});
    if (failed(applyPatternsGreedily(getOperation(), std::move(patterns))))
      signalPassFailure();
  }
};

} // namespace
