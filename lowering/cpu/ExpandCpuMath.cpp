//===- ExpandCpuMath.cpp - math and narrow floats for vector units --------===//

#include "dialect/Diagnostics.h"
#include "lowering/common/ExpandTrigonometry.h"
#include "lowering/common/TargetInfo.h"
#include "lowering/cpu/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Transforms/Passes.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Math/Transforms/Passes.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

namespace qm::cpu {
#define GEN_PASS_DEF_EXPANDCPUMATH
#include "lowering/cpu/Passes.h.inc"
} // namespace qm::cpu

using namespace mlir;

namespace {

/// Integer arithmetic on the bits of scalars or vectors alike.
struct Bits {
  PatternRewriter &rewriter;
  Location loc;
  Type like; ///< scalar or vector whose shape every value has

  Type shaped(Type element) const {
    auto vector = dyn_cast<VectorType>(like);
    return vector ? Type(vector.clone(element)) : element;
  }
  Value constant(uint32_t bits) const {
    Type type = shaped(rewriter.getI32Type());
    auto attr = rewriter.getI32IntegerAttr(static_cast<int32_t>(bits));
    if (auto vector = dyn_cast<VectorType>(type))
      return arith::ConstantOp::create(rewriter, loc,
                                       DenseElementsAttr::get(vector, attr));
    return arith::ConstantOp::create(rewriter, loc, attr);
  }
  Value ofFloat(Value value) const {
    return arith::BitcastOp::create(rewriter, loc,
                                    shaped(rewriter.getI32Type()), value);
  }
  Value toFloat(Value value) const {
    return arith::BitcastOp::create(rewriter, loc,
                                    shaped(rewriter.getF32Type()), value);
  }
  template <typename Op>
  Value apply(Value a, Value b) const {
    return Op::create(rewriter, loc, a, b);
  }
  Value select(arith::CmpIPredicate predicate, Value a, uint32_t bound,
               Value yes, Value no) const {
    Value condition =
        arith::CmpIOp::create(rewriter, loc, predicate, a, constant(bound));
    return arith::SelectOp::create(rewriter, loc, condition, yes, no);
  }
};

/// f16 -> f32. Shifted into f32's fields the exponent is 112 short, which one
/// multiplication by 2^112 mends, denormals included; infinity and NaN, which
/// it would make finite, get their exponent by hand.
struct ExpandExtF16 : OpRewritePattern<arith::ExtFOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(arith::ExtFOp op,
                                PatternRewriter &rewriter) const override {
    Value in = op.getIn();
    if (!getElementTypeOrSelf(in.getType()).isF16() ||
        !getElementTypeOrSelf(op.getType()).isF32())
      return failure();
    Bits bits{rewriter, op.getLoc(), in.getType()};
    Value half = arith::ExtUIOp::create(
        rewriter, op.getLoc(), bits.shaped(rewriter.getI32Type()),
        arith::BitcastOp::create(rewriter, op.getLoc(),
                                 bits.shaped(rewriter.getI16Type()), in));
    Value sign = bits.apply<arith::ShLIOp>(
        bits.apply<arith::AndIOp>(half, bits.constant(0x8000)),
        bits.constant(16));
    Value magnitude = bits.apply<arith::ShLIOp>(
        bits.apply<arith::AndIOp>(half, bits.constant(0x7fff)),
        bits.constant(13));
    Value scaled = bits.ofFloat(bits.apply<arith::MulFOp>(
        bits.toFloat(magnitude), bits.toFloat(bits.constant(0x77800000))));
    Value special =
        bits.apply<arith::OrIOp>(magnitude, bits.constant(0x7f800000));
    Value finite = bits.select(arith::CmpIPredicate::ult, magnitude, 0x0f800000,
                               scaled, special);
    rewriter.replaceOp(op,
                       bits.toFloat(bits.apply<arith::OrIOp>(finite, sign)));
    return success();
  }
};

/// f32 -> f16, nearest even. Normal results round by adding half a unit (minus
/// one if the last bit kept is even) below the bits that are dropped; denormal
/// ones by adding 1/2, whose last mantissa bit weighs f16's smallest denormal.
struct ExpandTruncF16 : OpRewritePattern<arith::TruncFOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(arith::TruncFOp op,
                                PatternRewriter &rewriter) const override {
    Value in = op.getIn();
    if (!getElementTypeOrSelf(in.getType()).isF32() ||
        !getElementTypeOrSelf(op.getType()).isF16())
      return failure();
    Location loc = op.getLoc();
    Bits bits{rewriter, loc, in.getType()};
    Value all = bits.ofFloat(in);
    Value magnitude = bits.apply<arith::AndIOp>(all, bits.constant(0x7fffffff));
    Value sign = bits.apply<arith::ShRUIOp>(
        bits.apply<arith::AndIOp>(all, bits.constant(0x80000000)),
        bits.constant(16));

    Value lastKept = bits.apply<arith::AndIOp>(
        bits.apply<arith::ShRUIOp>(magnitude, bits.constant(13)),
        bits.constant(1));
    // 0xc8000fff: exponent bias 127 -> 15, and just under half of the unit.
    Value rounded = bits.apply<arith::AddIOp>(
        bits.apply<arith::AddIOp>(magnitude, bits.constant(0xc8000fff)),
        lastKept);
    Value normal = bits.apply<arith::ShRUIOp>(rounded, bits.constant(13));
    Value half = bits.constant(0x3f000000);
    Value denormal = bits.apply<arith::SubIOp>(
        bits.ofFloat(bits.apply<arith::AddFOp>(bits.toFloat(magnitude),
                                               bits.toFloat(half))),
        half);
    Value special =
        bits.select(arith::CmpIPredicate::ugt, magnitude, 0x7f800000,
                    bits.constant(0x7e00), bits.constant(0x7c00));
    // Below 2^-14 the result is denormal; from 65536 on it is infinite
    // (rounding carries 65520 up to it).
    Value result = bits.select(arith::CmpIPredicate::ult, magnitude, 0x38800000,
                               denormal, normal);
    result = bits.select(arith::CmpIPredicate::uge, magnitude, 0x47800000,
                         special, result);
    result = bits.apply<arith::OrIOp>(result, sign);
    Value narrow = arith::TruncIOp::create(
        rewriter, loc, bits.shaped(rewriter.getI16Type()), result);
    rewriter.replaceOpWithNewOp<arith::BitcastOp>(op, op.getType(), narrow);
    return success();
  }
};

/// Without the instruction a fused multiply-add is a library call a lane.
struct ExpandFma : OpRewritePattern<math::FmaOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(math::FmaOp op,
                                PatternRewriter &rewriter) const override {
    Value product =
        arith::MulFOp::create(rewriter, op.getLoc(), op.getA(), op.getB());
    rewriter.replaceOpWithNewOp<arith::AddFOp>(op, product, op.getC());
    return success();
  }
};

/// Fused multiply-add and conversions of f16 came with AVX2 in the levels of
/// x86-64; a CPU of another name has none to count on.
bool hasFmaAndF16C(LLVM::LLVMFuncOp function) {
  StringRef cpu = function.getTargetCpu().value_or("");
  return llvm::any_of(
      qm::lowering::allTargets(), [&](const qm::lowering::TargetInfo &target) {
        return target.kind == qm::lowering::TargetKind::Cpu &&
               target.llvmCpu == cpu && target.vectorBytes >= 32;
      });
}

/// Operations that LLVM has, itself or by a function of the C library.
bool hasMachineCode(Operation *op) {
  return isa<math::AbsFOp, math::AbsIOp, math::AcosOp, math::AsinOp,
             math::AtanOp, math::Atan2Op, math::CeilOp, math::CopySignOp,
             math::CosOp, math::CoshOp, math::CountLeadingZerosOp,
             math::CountTrailingZerosOp, math::CtPopOp, math::ExpOp,
             math::Exp2Op, math::ExpM1Op, math::FloorOp, math::FmaOp,
             math::IsFiniteOp, math::IsNaNOp, math::LogOp, math::Log10Op,
             math::Log1pOp, math::Log2Op, math::PowFOp, math::RoundOp,
             math::RoundEvenOp, math::RsqrtOp, math::SinOp, math::SinhOp,
             math::SqrtOp, math::TanOp, math::TanhOp, math::TruncOp>(op);
}

LogicalResult checkMachineCode(LLVM::LLVMFuncOp function) {
  WalkResult result = function.walk([](Operation *op) {
    if (!isa<math::MathDialect>(op->getDialect()) || hasMachineCode(op))
      return WalkResult::advance();
    (void)qm::diag::help(
        qm::diag::error(op, qm::diag::Id::OperationNotSupported)
            << op->getName() << " has no machine code on a CPU",
        "write it with other operations of arith and math");
    return WalkResult::interrupt();
  });
  return failure(result.wasInterrupted());
}

struct ExpandCpuMath : qm::cpu::impl::ExpandCpuMathBase<ExpandCpuMath> {
  void runOnOperation() override {
    RewritePatternSet patterns(&getContext());
    populateMathPolynomialApproximationPatterns(
        patterns, MathPolynomialApproximationOptions());
    math::populateExpansionPatterns(patterns,
                                    {"acosh", "asinh", "atanh", "clampf"});
    arith::populateCeilFloorDivExpandOpsPatterns(patterns);
    arith::populateExpandBFloat16Patterns(patterns);
    bool wide = hasFmaAndF16C(getOperation());
    qm::lowering::populateTrigonometryPatterns(patterns, /*fused=*/wide);
    if (!wide)
      patterns.add<ExpandExtF16, ExpandTruncF16, ExpandFma>(&getContext());
    if (failed(applyPatternsGreedily(getOperation(), std::move(patterns))) ||
        failed(checkMachineCode(getOperation())))
      signalPassFailure();
  }
};

} // namespace
