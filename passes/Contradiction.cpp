// Linear conditions that exclude each other.
#include "passes/Contradiction.h"
#include "passes/RegionIntervals.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/OperationSupport.h"

#include <map>

using namespace mlir;
using namespace qm;
using namespace qm::passes;
using arith::CmpIPredicate;

namespace {

/// Sum of factors times terms, and a constant. As a condition: at most 0.
struct Linear {
  std::map<unsigned, int64_t> factors;
  int64_t constant = 0;

  Linear &add(const Linear &other, int64_t times) {
    for (auto [term, factor] : other.factors)
      if ((factors[term] += times * factor) == 0)
        factors.erase(term);
    constant += times * other.constant;
    return *this;
  }
  bool isImpossible() const { return factors.empty() && constant > 0; }
};

/// Conditions that hold together.
struct Case {
  SmallVector<Linear> bounds;
  std::map<unsigned, bool> facts; ///< predicates that are not linear
};
using Cases = SmallVector<Case>; ///< alternatives; none: never

/// Alternatives, sums of conditions and operations beyond these are not
/// followed: the time is bounded, and so is the depth of recursion.
constexpr size_t maxCases = 64, maxBounds = 96, maxSteps = 4096;

class Prover {
public:
  explicit Prover(Block &mask) {
    numberValues(mask);
    // Batch, head, query and key are not negative.
    for (BlockArgument index : mask.getArguments())
      always.push_back(Linear().add(linear(index), -1));
    std::optional<Cases> cases =
        expand(mask.getTerminator()->getOperand(0), false);
    proven = cases && llvm::all_of(*cases, [&](const Case &c) {
               return isImpossible(c);
             });
  }
  bool proven;

private:
  /// One number for values that are computed alike. In the order of the
  /// program, so that operands have theirs.
  void numberValues(Block &mask) {
    SmallVector<Operation *> distinct;
    for (Operation &op : mask.without_terminator()) {
      auto found = llvm::find_if(
          distinct, [&](Operation *other) { return areAlike(&op, other); });
      if (found != distinct.end()) {
        numbers[op.getResult(0)] = numberOf((*found)->getResult(0));
        continue;
      }
      distinct.push_back(&op);
      (void)numberOf(op.getResult(0));
    }
  }
  bool areAlike(Operation *a, Operation *b) {
    return a->getName() == b->getName() && a->getAttrs() == b->getAttrs() &&
           a->getResultTypes() == b->getResultTypes() &&
           a->getNumOperands() == b->getNumOperands() &&
           llvm::all_of(llvm::zip(a->getOperands(), b->getOperands()),
                        [&](auto pair) {
                          auto [x, y] = pair;
                          return numberOf(x) == numberOf(y);
                        });
  }
  unsigned numberOf(Value value) {
    return numbers.try_emplace(value, numbers.size()).first->second;
  }

  Linear linear(Value value) {
    Linear result;
    if (std::optional<int64_t> constant = getConstant(value)) {
      result.constant = *constant;
      return result;
    }
    Operation *op = ++steps < maxSteps ? value.getDefiningOp() : nullptr;
    if (isa_and_nonnull<arith::AddIOp, arith::SubIOp>(op))
      return linear(op->getOperand(0))
          .add(linear(op->getOperand(1)), isa<arith::AddIOp>(op) ? 1 : -1);
    if (isa_and_nonnull<arith::MulIOp>(op))
      for (unsigned side : {0, 1})
        if (std::optional<int64_t> factor = getConstant(op->getOperand(side)))
          return result.add(linear(op->getOperand(1 - side)), *factor);
    bool isNew = described.insert(numberOf(value)).second;
    result.factors[numberOf(value)] = 1;
    if (isNew && isa_and_nonnull<arith::FloorDivSIOp>(op))
      describeQuotient(result, *op);
    if (isNew && isa_and_nonnull<attn::ExtentOp>(op))
      always.push_back(Linear().add(result, -1));
    return result;
  }

  /// q = floor(x / c): c q <= x <= c q + c - 1.
  void describeQuotient(const Linear &quotient, Operation &op) {
    std::optional<int64_t> c = getConstant(op.getOperand(1));
    if (!c || *c <= 0)
      return;
    Linear rest = Linear().add(quotient, *c).add(linear(op.getOperand(0)), -1);
    always.push_back(rest);
    Linear opposite = Linear().add(rest, -1);
    opposite.constant -= *c - 1;
    always.push_back(opposite);
  }

  Cases fact(Value predicate, bool holds) {
    Case only;
    only.facts[numberOf(predicate)] = holds;
    return {only};
  }

  /// The alternatives under which `predicate` (or its negation) holds.
  std::optional<Cases> expand(Value predicate, bool negated) {
    if (std::optional<int64_t> constant = getConstant(predicate))
      return (*constant != 0) != negated ? Cases{Case()} : Cases{};
    if (++steps > maxSteps)
      return std::nullopt;
    Operation *op = predicate.getDefiningOp();
    if (isa_and_nonnull<arith::AndIOp, arith::OrIOp>(op)) {
      bool both = isa<arith::AndIOp>(op) != negated;
      return combine(expand(op->getOperand(0), negated),
                     expand(op->getOperand(1), negated), both);
    }
    if (auto invert = dyn_cast_if_present<arith::XOrIOp>(op))
      for (unsigned side : {0, 1})
        if (std::optional<int64_t> flip = getConstant(op->getOperand(side)))
          return expand(op->getOperand(1 - side), negated != (*flip != 0));
    if (auto select = dyn_cast_if_present<arith::SelectOp>(op)) {
      auto side = [&](Value value, bool condition) {
        return combine(expand(select.getCondition(), !condition),
                       expand(value, negated), /*both=*/true);
      };
      return combine(side(select.getTrueValue(), true),
                     side(select.getFalseValue(), false), /*both=*/false);
    }
    if (auto compare = dyn_cast_if_present<arith::CmpIOp>(op))
      return expandComparison(compare, negated);
    return fact(predicate, !negated);
  }

  Cases expandComparison(arith::CmpIOp op, bool negated) {
    // Equality excludes inequality of the same two, which is not linear.
    Cases cases = fact(op.getResult(), !negated);
    if (!op.getLhs().getType().isInteger(32))
      return cases;
    Linear difference = linear(op.getLhs()).add(linear(op.getRhs()), -1);
    // difference + atLeastOne <= 0, or its opposite.
    auto bound = [&](int64_t sign, int64_t constant) {
      Linear condition = Linear().add(difference, sign);
      condition.constant += constant;
      cases.front().bounds.push_back(condition);
    };
    switch (negated ? arith::invertPredicate(op.getPredicate())
                    : op.getPredicate()) {
    case CmpIPredicate::slt:
      bound(1, 1);
      break;
    case CmpIPredicate::sle:
      bound(1, 0);
      break;
    case CmpIPredicate::sgt:
      bound(-1, 1);
      break;
    case CmpIPredicate::sge:
      bound(-1, 0);
      break;
    case CmpIPredicate::eq:
      bound(1, 0), bound(-1, 0);
      break;
    default:
      break;
    }
    return cases;
  }

  std::optional<Cases> combine(std::optional<Cases> x, std::optional<Cases> y,
                               bool both) {
    if (!x || !y)
      return std::nullopt;
    if (!both) {
      llvm::append_range(*x, *y);
    } else {
      Cases product;
      for (const Case &a : *x)
        for (const Case &b : *y)
          if (std::optional<Case> c = merge(a, b))
            product.push_back(std::move(*c));
      x = std::move(product);
    }
    if (x->size() > maxCases)
      return std::nullopt;
    return x;
  }

  /// Nothing if the two exclude each other by a fact.
  static std::optional<Case> merge(Case a, const Case &b) {
    llvm::append_range(a.bounds, b.bounds);
    for (auto [predicate, holds] : b.facts)
      if (a.facts.insert({predicate, holds}).first->second != holds)
        return std::nullopt;
    return a;
  }

  /// Adds conditions up, where a term cancels, until one has no terms left and
  /// cannot hold.
  bool isImpossible(const Case &given) {
    SmallVector<Linear> bounds(given.bounds);
    llvm::append_range(bounds, always);
    for (size_t at = 0; at < bounds.size(); ++at) {
      if (bounds[at].isImpossible())
        return true;
      for (size_t other = 0; other < at && bounds.size() < maxBounds; ++other) {
        Linear sum = Linear().add(bounds[at], 1).add(bounds[other], 1);
        size_t before =
            bounds[at].factors.size() + bounds[other].factors.size();
        if (sum.isImpossible())
          return true;
        if (sum.factors.size() + 1 < before)
          bounds.push_back(sum);
      }
    }
    return false;
  }

  size_t steps = 0;
  DenseMap<Value, unsigned> numbers;
  DenseSet<unsigned> described; ///< numbers whose properties are in `always`
  SmallVector<Linear> always;
};

} // namespace

bool qm::passes::keepsNothing(Region &mask) {
  return !mask.empty() && Prover(mask.front()).proven;
}
