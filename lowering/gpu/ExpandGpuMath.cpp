// qm-expand-gpu-math: math of element-wise regions in terms the GPU has.
// ex2.approx (math.exp2 here) is within 2 ulp; what is made of it below stays
// within 4.
#include "lowering/common/ExpandTrigonometry.h"
#include "lowering/common/KernelTarget.h"
#include "lowering/common/ScorePrecision.h"
#include "lowering/gpu/ExpandTanh.h"
#include "lowering/gpu/Floats.h"
#include "lowering/gpu/Passes.h"

#include "mlir/Dialect/Arith/Transforms/Passes.h"
#include "mlir/Dialect/Math/Transforms/Passes.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

#include <cmath>

namespace qm::gpu {
#define GEN_PASS_DEF_EXPANDGPUMATH
#include "lowering/gpu/Passes.h.inc"
} // namespace qm::gpu

using namespace mlir;
using qm::gpu::Floats;

namespace {

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
    // Consumers of Hopper take a branch for many elements at a time.
    bool branches = target->sm == 90;
    if (branches)
      qm::gpu::moveScaleToTanh(getOperation());
    RewritePatternSet patterns(&getContext());
    patterns.add<ExpandExp, DivideByConstant, MultiplyByConstants>(
        &getContext());
    qm::gpu::populateTanhPatterns(
        patterns, {branches, qm::lowering::roundsScores(getOperation())});
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
