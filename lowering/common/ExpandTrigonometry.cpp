// sin and cos by reduction to an eighth of a turn and polynomials.
#include "lowering/common/ExpandTrigonometry.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"

#include <cmath>

using namespace mlir;

namespace {

/// Arithmetic on scalars, or on vectors of the same shape.
struct Builder {
  ImplicitLocOpBuilder b;
  Type like;

  Type shaped(Type element) const {
    auto vector = dyn_cast<VectorType>(like);
    return vector ? Type(vector.clone(element)) : element;
  }
  Value constant(TypedAttr scalar) {
    Type type = shaped(scalar.getType());
    if (auto vector = dyn_cast<VectorType>(type))
      scalar = DenseElementsAttr::get(vector, Attribute(scalar));
    return arith::ConstantOp::create(b, scalar);
  }
  Value real(double value) {
    return constant(b.getF32FloatAttr(static_cast<float>(value)));
  }
  Value integer(int32_t value) { return constant(b.getI32IntegerAttr(value)); }
  Value bits(Value value) {
    return arith::BitcastOp::create(b, shaped(b.getI32Type()), value);
  }
  Value fma(Value x, Value y, Value z) {
    return math::FmaOp::create(b, x, y, z);
  }
  /// ((first x + second) x + third) x ...
  Value polynomial(Value x, ArrayRef<double> coefficients) {
    Value sum = real(coefficients.front());
    for (double coefficient : coefficients.drop_front())
      sum = fma(sum, x, real(coefficient));
    return sum;
  }
};

/// pi / 2 as a sum of f32. A fused multiply-add subtracts a multiple of the
/// first exactly whatever the multiple; without it the product has to be exact,
/// and is up to 2^13 times numbers of 11 bits.
ArrayRef<double> quarterTurn(bool fused) {
  static constexpr double whole[] = {0x1.921fb6p+0, -0x1.777a5cp-25,
                                     -0x1.ee59dap-50};
  static constexpr double short11[] = {0x1.92p+0, 0x1.fb4p-12, 0x1.444p-24,
                                       0x1.68c234p-39};
  return fused ? ArrayRef<double>(whole) : ArrayRef<double>(short11);
}

/// x = n pi/2 + r with |r| <= pi/4; sin x is sin r, cos r, -sin r or -cos r as
/// n mod 4 is 0 to 3, and cos x is sin of a quarter turn more.
template <typename Op>
struct Expand : OpRewritePattern<Op> {
  bool fused;
  Expand(MLIRContext *context, bool fused)
      : OpRewritePattern<Op>(context, /*benefit=*/2), fused(fused) {}

  LogicalResult matchAndRewrite(Op op,
                                PatternRewriter &rewriter) const override {
    if (!getElementTypeOrSelf(op.getType()).isF32())
      return failure();
    Builder f{ImplicitLocOpBuilder(op.getLoc(), rewriter), op.getType()};
    Value x = op.getOperand();
    // Added to 1.5 2^23 a number is rounded to an integer, the low bits of the
    // sum.
    Value shift = f.real(0x1.8p+23);
    Value shifted = f.fma(x, f.real(M_2_PI), shift);
    Value n = arith::SubFOp::create(f.b, shifted, shift);
    Value r = x;
    for (double part : quarterTurn(fused))
      r = f.fma(n, f.real(-part), r);
    // 2/pi has an error of its own, by which |r| may pass pi/4, up to 0.96.
    // Past 2^22 quarter turns n is no nearest integer any more; then r may not
    // run away with the polynomials.
    r = arith::MaximumFOp::create(f.b, r, f.real(-1.0));
    r = arith::MinimumFOp::create(f.b, r, f.real(1.0));

    Value square = arith::MulFOp::create(f.b, r, r);
    // Least largest errors up to pi/4: 4e-9 of sin r, relative, and 1e-10.
    Value p = f.polynomial(square, {-0.00019504318, 0.008332083, -0.16666654});
    Value sine = f.fma(arith::MulFOp::create(f.b, p, square), r, r);
    Value cosine = f.polynomial(
        square, {2.4423889e-05, -0.0013887243, 0.041666646, -0.5, 1.0});

    Value quadrant = f.bits(shifted);
    if (std::is_same_v<Op, math::CosOp>)
      quadrant = arith::AddIOp::create(f.b, quadrant, f.integer(1));
    Value odd = arith::CmpIOp::create(
        f.b, arith::CmpIPredicate::ne,
        arith::AndIOp::create(f.b, quadrant, f.integer(1)), f.integer(0));
    Value magnitude = arith::SelectOp::create(f.b, odd, cosine, sine);
    // The second bit of the quadrant becomes the sign.
    Value sign = arith::ShLIOp::create(
        f.b, arith::AndIOp::create(f.b, quadrant, f.integer(2)), f.integer(30));
    rewriter.replaceOpWithNewOp<arith::BitcastOp>(
        op, op.getType(), arith::XOrIOp::create(f.b, f.bits(magnitude), sign));
    return success();
  }
};

} // namespace

void qm::lowering::populateTrigonometryPatterns(RewritePatternSet &patterns,
                                                bool fused) {
  patterns.add<Expand<math::SinOp>, Expand<math::CosOp>>(patterns.getContext(),
                                                         fused);
}
