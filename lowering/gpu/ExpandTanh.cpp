// tanh x = 1 - 2 / (1 + 2^(2 x log2 e)), within a few units in the last place
// of 1. Where it is a term of a score that becomes a probability of 16 bits
// that is all that counts, and near 0 a short polynomial is as good. Elsewhere
// (f32, lse) a longer one makes it exact relative to itself. Constant factors
// of a term's argument and of its result go into the expansion.
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

  /// `scaled`: with the constant factors around it.
  ScaledTanh(math::TanhOp op, bool scaled);

private:
  bool isNormal() const;
};

/// The forms of a ScaledTanh.
struct Forms {
  Floats f;
  const ScaledTanh &tanh;

  Value large(arith::FastMathFlags division);
  Value approximate();
  Value small(const TanhPolynomial &polynomial);
  double limit(const TanhPolynomial &polynomial) const {
    return polynomial.limit / std::abs(tanh.factor);
  }
};

struct ExpandTanh : OpRewritePattern<math::TanhOp> {
  ExpandTanh(MLIRContext *context, TanhUse use)
      : OpRewritePattern(context), use(use) {}

  LogicalResult matchAndRewrite(math::TanhOp op,
                                PatternRewriter &rewriter) const override;

private:
  LogicalResult addUsualCase(math::TanhOp op, PatternRewriter &rewriter) const;

  TanhUse use;
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

ScaledTanh::ScaledTanh(math::TanhOp op, bool scaled)
    : s(op.getOperand()), root(op) {
  if (!scaled)
    return;
  ScaledTanh wider(*this);
  while (auto match = matchFactor(wider.s.getDefiningOp())) {
    wider.s = match->first;
    wider.factor *= match->second;
  }
  while (wider.root->hasOneUse())
    if (auto match = matchFactor(*wider.root->user_begin())) {
      wider.root = *wider.root->user_begin();
      wider.scale *= match->second;
    } else {
      break;
    }
  if (wider.isNormal())
    *this = wider;
}

/// Whether all constants of the expansion are normal numbers.
bool ScaledTanh::isNormal() const {
  double power = scale * factor;
  for (unsigned i = 0; i < std::size(exactTanhCoefficients); ++i) {
    if (!std::isnormal(float(power)))
      return false;
    power *= factor * factor;
  }
  return std::isnormal(float(factor)) && std::isnormal(float(scale)) &&
         std::isnormal(float(exactTanh.limit / factor));
}

/// scale - 2 scale / (1 + 2^(2 factor s log2 e)): the divisor is 1 or more, so
/// its reciprocal needs none of a division's care.
Value Forms::large(arith::FastMathFlags division) {
  Value exponential =
      f.exp2(f.mul(tanh.s, f.constant(2.0 * M_LOG2E * tanh.factor)));
  Value distance =
      arith::DivFOp::create(f.b, f.constant(-2.0 * tanh.scale),
                            f.add(exponential, f.constant(1.0)), division);
  return f.add(distance, f.constant(tanh.scale));
}

/// scale tanh(factor s) by the machine's function.
Value Forms::approximate() {
  Value result = math::TanhOp::create(
      f.b, f.mul(tanh.s, f.constant(tanh.factor)), arith::FastMathFlags::afn);
  return f.mul(result, f.constant(tanh.scale));
}

/// scale (factor s) p((factor s)^2)
Value Forms::small(const TanhPolynomial &polynomial) {
  Value square = f.mul(tanh.s, tanh.s), p;
  int power = 2 * polynomial.coefficients.size() - 1;
  for (double coefficient : polynomial.coefficients) {
    Value c =
        f.constant(tanh.scale * coefficient * std::pow(tanh.factor, power));
    p = p ? f.fma(p, square, c) : c;
    power -= 2;
  }
  return f.mul(tanh.s, p);
}

/// The machine's tanh keeps the special-function unit busy beside the
/// exponentials; near 0 a polynomial is cheaper, and more exact.
LogicalResult ExpandTanh::addUsualCase(math::TanhOp op,
                                       PatternRewriter &rewriter) const {
  ScaledTanh tanh(op, /*scaled=*/true);
  if (isGeneralCase(tanh.root->getResult(0)))
    return failure();
  Forms forms{Floats(tanh.root, rewriter), tanh};
  const TanhPolynomial &polynomial = use.roundedScores ? shortTanh : exactTanh;
  Value small = forms.small(polynomial);
  rewriter.replaceOp(tanh.root,
                     createUsualCase(forms.f.b, forms.f.b.getLoc(), tanh.s,
                                     float(forms.limit(polynomial)), small,
                                     forms.approximate()));
  return success();
}

LogicalResult ExpandTanh::matchAndRewrite(math::TanhOp op,
                                          PatternRewriter &rewriter) const {
  if (!op.getType().isF32())
    return failure();
  bool isTerm = isTermOfResult(op.getResult());
  bool branches = isTerm && use.branches;
  if (isApproximate(op))
    return branches ? addUsualCase(op, rewriter) : failure();
  ScaledTanh tanh(op, /*scaled=*/isTerm);
  Forms forms{Floats(tanh.root, rewriter), tanh};
  bool exact = !isTerm || !use.roundedScores;
  // Where a divisor is very large its quotient may be anything as small (afn),
  // which lets neighbours share a reciprocal, for an error that adds up.
  arith::FastMathFlags division = arith::FastMathFlags::arcp;
  if (!exact)
    division = division | arith::FastMathFlags::afn;
  const TanhPolynomial &polynomial = exact ? exactTanh : shortTanh;
  Value result = forms.large(division);
  if (exact || branches) {
    Floats &f = forms.f;
    Value small = forms.small(polynomial);
    double limit = forms.limit(polynomial);
    if (exact)
      result = f.select(f.less(f.abs(tanh.s), limit), small, result);
    if (branches)
      result = createUsualCase(f.b, f.b.getLoc(), tanh.s, float(limit), small,
                               result);
  }
  rewriter.replaceOp(tanh.root, result);
  return success();
}

void qm::gpu::populateTanhPatterns(RewritePatternSet &patterns, TanhUse use) {
  patterns.add<ExpandTanh>(patterns.getContext(), use);
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
    if (!tanh)
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
