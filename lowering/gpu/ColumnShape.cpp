// Values of a mask along the keys of a block.
#include "lowering/gpu/ColumnShape.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Matchers.h"

#include <numeric>

using namespace mlir;
using namespace qm;
using namespace qm::gpu;

/// Indices and lengths are smaller: the runtime checks it.
static constexpr int64_t maxLength = int64_t(1) << 30;

static std::optional<int64_t> constantOf(Value value) {
  APInt constant;
  if (value && matchPattern(value, m_ConstantInt(&constant)))
    return constant.getSExtValue();
  return std::nullopt;
}

std::optional<Division> qm::gpu::matchQuotient(Value value) {
  Operation *op = value.getDefiningOp();
  if (!isa_and_present<arith::FloorDivSIOp, arith::ShRSIOp>(op))
    return std::nullopt;
  std::optional<int64_t> c = constantOf(op->getOperand(1));
  if (c && isa<arith::ShRSIOp>(op))
    c = *c >= 0 && *c < 31 ? int64_t(1) << *c : 0;
  if (!c || *c <= 0)
    return std::nullopt;
  return Division{op->getOperand(0), *c};
}

std::optional<Division> qm::gpu::matchRemainder(Value value) {
  Operation *op = value.getDefiningOp();
  // x & (2^n - 1)
  if (auto mask = dyn_cast_or_null<arith::AndIOp>(op)) {
    std::optional<int64_t> ones = constantOf(mask.getRhs());
    if (ones && *ones > 0 && llvm::isPowerOf2_64(*ones + 1))
      return Division{mask.getLhs(), *ones + 1};
  }
  // x - floor(x / c) c
  auto subtract = dyn_cast_or_null<arith::SubIOp>(op);
  auto product = subtract ? subtract.getRhs().getDefiningOp<arith::MulIOp>()
                          : arith::MulIOp();
  if (!product)
    return std::nullopt;
  auto quotient = matchQuotient(product.getLhs());
  if (!quotient || quotient->dividend != subtract.getLhs() ||
      constantOf(product.getRhs()) != quotient->divisor)
    return std::nullopt;
  return quotient;
}

ColumnShapes::ColumnShapes(Block &body, int64_t blockKeys)
    : blockKeys(blockKeys) {
  auto key = body.getArgument(1);
  shapes[key] = {ColumnShape::Linear, 0, 1, blockKeys};
  auto bits = [](int64_t value) { return APInt(32, value); };
  for (BlockArgument index : body.getArguments()) {
    shapes.try_emplace(index, constant());
    ranges.try_emplace(
        index, ConstantIntRanges::fromSigned(bits(0), bits(maxLength - 1)));
  }
  for (Operation &op : body.without_terminator()) {
    ColumnShape shape = compute(op);
    for (Value result : op.getResults())
      shapes[result] = shape;
  }
}

ColumnShape ColumnShapes::of(Value value) {
  auto found = shapes.find(value);
  return found == shapes.end() ? constant() : found->second;
}

const ConstantIntRanges &ColumnShapes::rangeOf(Value value) {
  if (auto found = ranges.find(value); found != ranges.end())
    return found->second;
  unsigned width = ConstantIntRanges::getStorageBitwidth(value.getType());
  ConstantIntRanges range = ConstantIntRanges::maxRange(width);
  Operation *op = value.getDefiningOp();
  if (isa_and_present<attn::ExtentOp>(op)) {
    range =
        ConstantIntRanges::fromSigned(APInt(32, 0), APInt(32, maxLength - 1));
  } else if (auto known = dyn_cast_or_null<InferIntRangeInterface>(op)) {
    bool integers = llvm::all_of(op->getOperandTypes(), [](Type type) {
      return type.isSignlessInteger();
    });
    if (integers) {
      auto operands = llvm::map_to_vector(
          op->getOperands(), [&](Value operand) { return rangeOf(operand); });
      known.inferResultRanges(operands,
                              [&](Value result, const ConstantIntRanges &r) {
                                if (result == value)
                                  range = r;
                              });
    }
  }
  return ranges.try_emplace(value, range).first->second;
}

ColumnShape ColumnShapes::quotient(ColumnShape x, int64_t c) const {
  if (!x.isLinear() || x.step != 1)
    return {};
  if (x.align % blockKeys == 0 && c % blockKeys == 0)
    return constant();
  if (blockKeys % c == 0 && x.align % c == 0)
    return {ColumnShape::Steps, c, 0, 1};
  return {};
}

ColumnShape ColumnShapes::remainder(ColumnShape x, int64_t c) const {
  if (!x.isLinear())
    return {};
  if (x.step == 1 && x.align % blockKeys == 0 && c % blockKeys == 0)
    return {ColumnShape::Linear, 0, 1, std::gcd(x.align, c)};
  if (blockKeys % c == 0)
    return {ColumnShape::Periodic, c, 0, 1};
  return {};
}

/// x + c, x - c and c - x, where c is the same in the block.
ColumnShape ColumnShapes::sum(Operation &op) {
  Value x = op.getOperand(0), c = op.getOperand(1);
  bool keyFirst = of(x).isLinear();
  if (!keyFirst)
    std::swap(x, c);
  ColumnShape shape = of(x);
  if (!shape.isLinear() || !isConstant(c))
    return {};
  // Could wrap: then nothing is known of it.
  const ConstantIntRanges &range = rangeOf(op.getResult(0));
  if (range.smin().isMinSignedValue() || range.smax().isMaxSignedValue())
    return {};
  std::optional<int64_t> constant = constantOf(c);
  shape.align = constant ? std::gcd(shape.align, *constant) : 1;
  if (isa<arith::SubIOp>(op) && !keyFirst)
    shape.step = -shape.step;
  return shape;
}

/// Whatever the operation: where its operands stay the same, its result does.
ColumnShape ColumnShapes::merge(Operation &op) {
  ColumnShape merged = constant();
  bool periodic = false;
  for (Value operand : op.getOperands()) {
    ColumnShape shape = of(operand);
    if (shape.kind == ColumnShape::Steps && shape.size == blockKeys)
      continue;
    bool first = merged.size == blockKeys && !periodic;
    if (shape.kind == ColumnShape::Steps && !periodic) {
      merged.size = std::gcd(merged.size, shape.size);
    } else if (shape.kind == ColumnShape::Periodic && (first || periodic)) {
      merged.size = first ? shape.size : std::lcm(merged.size, shape.size);
      periodic = true;
    } else {
      return {};
    }
  }
  if (periodic)
    merged.kind = ColumnShape::Periodic;
  return merged;
}

ColumnShape ColumnShapes::compute(Operation &op) {
  if (op.getNumResults() == 1) {
    Value result = op.getResult(0);
    if (auto division = matchRemainder(result);
        division && of(division->dividend).isLinear())
      return remainder(of(division->dividend), division->divisor);
    if (auto division = matchQuotient(result);
        division && of(division->dividend).isLinear())
      return quotient(of(division->dividend), division->divisor);
    if (isa<arith::AddIOp, arith::SubIOp>(op))
      if (ColumnShape shape = sum(op); shape.kind != ColumnShape::Other)
        return shape;
  }
  return merge(op);
}
