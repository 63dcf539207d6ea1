// tanh x = 1 - 2 / (1 + 2^(2 x log2 e)), within a few units in the last place
// of 1. Where it is a term of a score that is all that counts, and constant
// factors of its argument and of its result go into the expansion; near 0 a
// short polynomial is as good there. Elsewhere a polynomial makes it exact
// relative to itself.
#include "lowering/gpu/ExpandTanh.h"

#include "lowering/gpu/Floats.h"
#include "lowering/gpu/UsualCase.h"

#include "mlir/IR/Matchers.h"

#include <cmath>

using namespace mlir;
using namespace qm;
using namespace qm::gpu;

static bool isApproximate(math::TanhOp op) {
  return bitEnumContainsAny(op.getFastmath(), arith::FastMathFlags::afn);
}

/// Whether all that becomes of `value` is a term of what the region yields: a
/// score, of which an absolute error counts.
static bool isTermOfResult(Value value) {
  SetVector<Operation *> users(value.user_begin(), value.user_end());
  for (unsigned i = 0; i < users.size(); ++i) {
    Operation *user = users[i];
    if (isa<attn::YieldOp>(user))
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

namespace {

/// scale tanh(factor s), which replaces the result of `root`.
struct ScaledTanh {
  Value s;
  double factor = 1;
  double scale = 1;
  Operation *root;

  explicit ScaledTanh(math::TanhOp op);

private:
  bool isNormal() const;
};

struct ExpandTanh : OpRewritePattern<math::TanhOp> {
  ExpandTanh(MLIRContext *context, bool branches)
      : OpRewritePattern(context), branches(branches) {}

  LogicalResult matchAndRewrite(math::TanhOp op,
                                PatternRewriter &rewriter) const override;

private:
  void expandTerm(math::TanhOp op, PatternRewriter &rewriter) const;

  bool branches;
};

} // namespace

/// The other factor of a product with a constant, or the dividend of a constant
/// divisor, and what it is multiplied by.
static std::optional<std::pair<Value, double>> matchFactor(Operation *op) {
  APFloat constant(0.0f);
  if (!isa_and_present<arith::MulFOp, arith::DivFOp>(op))
    return std::nullopt;
  bool divides = isa<arith::DivFOp>(op);
  for (unsigned operand : {1, 0})
    if ((operand == 1 || !divides) &&
        matchPattern(op->getOperand(operand), m_ConstantFloat(&constant))) {
      double value = constant.convertToFloat();
      return std::pair(op->getOperand(1 - operand),
                       divides ? 1 / value : value);
    }
  return std::nullopt;
}

ScaledTanh::ScaledTanh(math::TanhOp op) : s(op.getOperand()), root(op) {
  ScaledTanh unscaled(*this), scaled(*this);
  while (auto match = matchFactor(scaled.s.getDefiningOp())) {
    scaled.s = match->first;
    scaled.factor *= match->second;
  }
  while (scaled.root->hasOneUse())
    if (auto match = matchFactor(*scaled.root->user_begin())) {
      scaled.root = *scaled.root->user_begin();
      scaled.scale *= match->second;
    } else {
      break;
    }
  *this = scaled.isNormal() ? scaled : unscaled;
}

/// Whether all constants of the expansion are normal numbers.
bool ScaledTanh::isNormal() const {
  double power = scale * factor;
  for (unsigned i = 0; i < std::size(tanhCoefficients); ++i) {
    if (!std::isnormal(float(power)))
      return false;
    power *= factor * factor;
  }
  return std::isnormal(float(factor)) && std::isnormal(float(scale)) &&
         std::isnormal(float(tanhLimit / factor));
}

/// -2 scale / (1 + 2^(2 factor s log2 e)), of which an absolute error counts:
/// the divisor is 1 or more, so its reciprocal needs none of a division's care,
/// and where it is very large it may be anything as large.
static Value distanceFromOne(Floats &f, Value s, double factor, double scale) {
  Value exponential = f.exp2(f.mul(s, f.constant(2.0 * M_LOG2E * factor)));
  return arith::DivFOp::create(
      f.b, f.constant(-2.0 * scale), f.add(exponential, f.constant(1.0)),
      arith::FastMathFlags::arcp | arith::FastMathFlags::afn);
}

void ExpandTanh::expandTerm(math::TanhOp op, PatternRewriter &rewriter) const {
  ScaledTanh tanh(op);
  Floats f(tanh.root, rewriter);
  Value general = f.add(distanceFromOne(f, tanh.s, tanh.factor, tanh.scale),
                        f.constant(tanh.scale));
  if (!branches) {
    rewriter.replaceOp(tanh.root, general);
    return;
  }
  // scale (factor s) p((factor s)^2)
  Value square = f.mul(tanh.s, tanh.s), p;
  int power = 2 * std::size(tanhCoefficients) - 1;
  for (double coefficient : tanhCoefficients) {
    Value c =
        f.constant(tanh.scale * coefficient * std::pow(tanh.factor, power));
    p = p ? f.fma(p, square, c) : c;
    power -= 2;
  }
  rewriter.replaceOp(tanh.root,
                     createUsualCase(f.b, f.b.getLoc(), tanh.s,
                                     float(tanhLimit / std::abs(tanh.factor)),
                                     f.mul(tanh.s, p), general));
}

LogicalResult ExpandTanh::matchAndRewrite(math::TanhOp op,
                                          PatternRewriter &rewriter) const {
  if (!op.getType().isF32() || isApproximate(op))
    return failure();
  if (isTermOfResult(op.getResult())) {
    expandTerm(op, rewriter);
    return success();
  }
  Floats f(op, rewriter);
  Value x = op.getOperand();
  Value large = f.add(distanceFromOne(f, x, 1, 1), f.constant(1.0));
  // x + x^3 p(x^2) with the least largest relative error up to `limit`, 4.1e-8.
  constexpr double limit = 0.35;
  Value square = f.mul(x, x);
  Value p = f.constant(-0.0491485);
  for (double coefficient : {0.13299825, -0.33332663})
    p = f.fma(p, square, f.constant(coefficient));
  Value small = f.fma(f.mul(p, square), x, x);
  rewriter.replaceOp(op, f.select(f.less(f.abs(x), limit), small, large));
  return success();
}

void qm::gpu::populateTanhPatterns(RewritePatternSet &patterns, bool branches) {
  patterns.add<ExpandTanh>(patterns.getContext(), branches);
}

/// The map whose result, but for masked elements, the softmax reads, if nothing
/// else does.
static attn::MapOp findMap(attn::OnlineSoftmaxOp softmax) {
  Value scores = softmax.getScores();
  while (scores.hasOneUse()) {
    if (auto map = scores.getDefiningOp<attn::MapOp>())
      return map;
    auto mask = scores.getDefiningOp<attn::MaskOp>();
    if (!mask)
      break;
    scores = mask.getTile();
  }
  return nullptr;
}

void qm::gpu::moveScaleToTanh(attn::KernelOp kernel) {
  auto softmaxes =
      kernel.getKeyBlocks().getBody().getOps<attn::OnlineSoftmaxOp>();
  for (attn::OnlineSoftmaxOp softmax : softmaxes) {
    attn::MapOp map = findMap(softmax);
    std::optional<APFloat> scale = softmax.getExp2Scale();
    if (!map || !scale)
      continue;
    Operation *yield = map.getBody().front().getTerminator();
    auto tanh = yield->getOperand(0).getDefiningOp<math::TanhOp>();
    if (!tanh || isApproximate(tanh))
      continue;
    OpBuilder b(yield);
    Value factor =
        arith::ConstantOp::create(b, tanh.getLoc(), softmax.getExp2ScaleAttr());
    yield->setOperand(0, arith::MulFOp::create(b, tanh.getLoc(), tanh, factor));
    FloatAttr one = b.getF32FloatAttr(1.0f);
    softmax.setExp2ScaleAttr(one);
    if (std::optional<APFloat> bound = softmax.getBound())
      softmax.setBoundAttr(
          b.getF32FloatAttr(bound->convertToFloat() * scale->convertToFloat()));
    for (auto normalize : kernel.getBody().front().getOps<attn::NormalizeOp>())
      normalize.setExp2ScaleAttr(one);
  }
}
