// tiled -> fused: one element-wise chain a block, its constant factor in the
// exponent, base 2.
#include "passes/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

#include <cmath>
#include <numbers>

using namespace mlir;
using namespace qm;

namespace qm::passes {
#define GEN_PASS_DEF_FUSEMODIFIERS
#include "passes/Passes.h.inc"
} // namespace qm::passes

namespace {

/// Exponent scales outside this range could leave f32's normal numbers; such
/// factors stay in the chain.
constexpr double smallestScale = 1e-30, largestScale = 1e30;
/// Factors that other terms of a score are divided by lie in this range: they
/// stay far from the ends of f32.
constexpr double smallestShared = 0x1p-16, largestShared = 0x1p16;

/// Puts the body of `first` in front of the body of `second`, which reads it.
void merge(attn::MapOp first, attn::MapOp second) {
  Block &from = first.getBody().front(), &into = second.getBody().front();
  Value yielded = from.getTerminator()->getOperand(0);
  from.getTerminator()->erase();
  // Query and key index mean the same in both.
  from.getArgument(1).replaceAllUsesWith(into.getArgument(1));
  from.getArgument(2).replaceAllUsesWith(into.getArgument(2));
  Value score = into.getArgument(0);
  if (yielded == from.getArgument(0)) {
    // An identity: the second map reads what the first read.
  } else {
    score.replaceAllUsesWith(yielded);
  }
  from.getArgument(0).replaceAllUsesWith(score);
  into.getOperations().splice(into.begin(), from.getOperations());
  second.getTileMutable().assign(first.getTile());
  first.erase();
}

/// A value times a constant.
struct Scaled {
  Value value;
  double factor;

  static std::optional<Scaled> match(Value product) {
    auto op = product.getDefiningOp<arith::MulFOp>();
    FloatAttr constant;
    if (op && matchPattern(op.getRhs(), m_Constant(&constant)))
      return Scaled{op.getLhs(), constant.getValueAsDouble()};
    if (op && matchPattern(op.getLhs(), m_Constant(&constant)))
      return Scaled{op.getRhs(), constant.getValueAsDouble()};
    return std::nullopt;
  }
};

/// What depends on one of `arguments` among the values of `body`.
llvm::DenseSet<Value> dependents(Block &body, ValueRange arguments) {
  llvm::DenseSet<Value> found(arguments.begin(), arguments.end());
  for (Operation &op : body)
    if (llvm::any_of(op.getOperands(),
                     [&](Value operand) { return found.contains(operand); }))
      found.insert_range(op.getResults());
  return found;
}

/// Takes the factor of the score out of a sum: scale s + t becomes
/// scale (s + t / scale). The term is one multiply-add either way, and the
/// factor can leave the chain; where a term is a product with what is the same
/// for all elements, that is divided.
class CommonFactor {
public:
  explicit CommonFactor(Block &body)
      : body(body), fromScore(dependents(body, body.getArgument(0))),
        fromElement(dependents(body, body.getArguments())) {}

  /// The factor of a term of `sum` that depends on the score, or nothing.
  std::optional<double> find(Value sum) const {
    if (!isSum(sum)) {
      std::optional<Scaled> scaled = Scaled::match(sum);
      return scaled && fromScore.contains(scaled->value)
                 ? std::optional(scaled->factor)
                 : std::nullopt;
    }
    Operation *op = sum.getDefiningOp();
    std::optional<double> found = find(op->getOperand(0));
    return found ? found : find(op->getOperand(1));
  }

  /// `sum` divided by `factor`, term by term.
  Value takeOut(OpBuilder &b, Value sum, double factor) const {
    if (isSum(sum)) {
      for (OpOperand &operand : sum.getDefiningOp()->getOpOperands())
        operand.set(takeOut(b, operand.get(), factor));
      return sum;
    }
    std::optional<Scaled> scaled = Scaled::match(sum);
    if (scaled && scaled->factor == factor)
      return scaled->value;
    return multiply(b, sum, 1 / factor);
  }

  /// What is added up to a score, and used nowhere else.
  static bool isSum(Value value) {
    return value.hasOneUse() && value.getType().isF32() &&
           isa_and_present<arith::AddFOp, arith::SubFOp>(value.getDefiningOp());
  }

private:
  Value multiply(OpBuilder &b, Value value, double factor) const {
    if (auto product = value.getDefiningOp<arith::MulFOp>();
        product && product->hasOneUse())
      for (OpOperand &operand : product->getOpOperands())
        if (!fromElement.contains(operand.get())) {
          operand.set(multiply(b, operand.get(), factor));
          return value;
        }
    Operation *op = value.getDefiningOp();
    if (op && op->getBlock() == &body)
      b.setInsertionPointAfter(op);
    else
      b.setInsertionPointToStart(&body);
    Value constant = arith::ConstantOp::create(
        b, value.getLoc(), b.getF32FloatAttr(float(factor)));
    return arith::MulFOp::create(b, value.getLoc(), value, constant);
  }

  Block &body;
  llvm::DenseSet<Value> fromScore, fromElement;
};

/// Takes a positive constant factor off the end of the chain, out of a sum if
/// it is the score's there; 1 if there is none.
double takeFactor(attn::MapOp map) {
  double taken = 1;
  Block &body = map.getBody().front();
  OpOperand &yielded = body.getTerminator()->getOpOperand(0);
  auto fits = [&](double factor) {
    double scale = taken * factor * std::numbers::log2e;
    return scale >= smallestScale && scale <= largestScale;
  };
  while (std::optional<Scaled> scaled = Scaled::match(yielded.get())) {
    if (!fits(scaled->factor))
      return taken;
    taken *= scaled->factor;
    Operation *product = yielded.get().getDefiningOp();
    yielded.set(scaled->value);
    if (product->use_empty())
      product->erase();
  }
  CommonFactor common(body);
  std::optional<double> factor = common.find(yielded.get());
  if (CommonFactor::isSum(yielded.get()) && factor && fits(*factor) &&
      *factor >= smallestShared && *factor <= largestShared) {
    OpBuilder b(map.getContext());
    yielded.set(common.takeOut(b, yielded.get(), *factor));
    taken *= *factor;
    for (Operation &op : llvm::make_early_inc_range(llvm::reverse(body)))
      if (isOpTriviallyDead(&op))
        op.erase();
  }
  return taken;
}

bool isIdentity(attn::MapOp map) {
  Block &body = map.getBody().front();
  return body.getTerminator()->getOperand(0) == body.getArgument(0);
}

struct FuseModifiers : qm::passes::impl::FuseModifiersBase<FuseModifiers> {
  void runOnOperation() override {
    attn::KernelOp kernel = getOperation();
    attn::KeyBlocksOp loop = kernel.getKeyBlocks();
    mergeMaps(loop);
    auto softmaxes =
        llvm::to_vector(loop.getBody().getOps<attn::OnlineSoftmaxOp>());
    Builder builder(&getContext());
    for (attn::OnlineSoftmaxOp softmax : softmaxes) {
      if (softmax.getExp2Scale())
        continue;
      double factor = absorbFactor(softmax);
      FloatAttr scale = builder.getF32FloatAttr(factor * std::numbers::log2e);
      softmax.setExp2ScaleAttr(scale);
      // The maximum that leaves the loop is in the units of the scores.
      for (attn::NormalizeOp normalize :
           kernel.getBody().front().getOps<attn::NormalizeOp>())
        normalize.setExp2ScaleAttr(scale);
    }
  }

private:
  void mergeMaps(attn::KeyBlocksOp loop) {
    for (auto map :
         llvm::make_early_inc_range(loop.getBody().getOps<attn::MapOp>())) {
      auto first = map.getTile().getDefiningOp<attn::MapOp>();
      if (!first || !first->hasOneUse())
        continue;
      merge(first, map);
      ++numFused;
    }
  }

  /// The factor at the end of the map that the softmax reads, through masks:
  /// -inf times it is -inf.
  double absorbFactor(attn::OnlineSoftmaxOp softmax) {
    Value scores = softmax.getScores();
    while (auto mask = scores.getDefiningOp<attn::MaskOp>()) {
      if (!mask->hasOneUse())
        return 1;
      scores = mask.getTile();
    }
    auto map = scores.getDefiningOp<attn::MapOp>();
    if (!map || !map->hasOneUse())
      return 1;
    double factor = takeFactor(map);
    if (isIdentity(map)) {
      map.getResult().replaceAllUsesWith(map.getTile());
      map.erase();
      ++numFused;
    }
    return factor;
  }
};

} // namespace
