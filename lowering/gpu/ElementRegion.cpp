// Emits element-wise regions, each operation as often as it can differ.
#include "lowering/gpu/ElementRegion.h"

#include "lowering/gpu/Extrema.h"
#include "lowering/gpu/SearchSorted.h"
#include "lowering/gpu/SharedReciprocal.h"

#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/Matchers.h"

#include "llvm/ADT/SmallPtrSet.h"

using namespace mlir;
using namespace qm;
using namespace qm::gpu;

ElementRegion::ElementRegion(Region &region, Roles roles, Arguments &arguments,
                             const IRMapping &outer, Operation *loop,
                             Case which)
    : body(region.front()), arguments(arguments), outer(outer), loop(loop),
      ranges(body) {
  for (BlockArgument argument : body.getArguments()) {
    unsigned number = argument.getArgNumber();
    dependence[argument] = number == roles.row      ? Row
                           : number == roles.column ? Column
                                                    : Element;
    if (number == roles.column)
      columnArgument = argument;
  }
  for (Operation &op : body.without_terminator()) {
    unsigned bits = Uniform;
    for (Value operand : op.getOperands())
      bits |= dependenceOf(operand);
    for (Value result : op.getResults())
      dependence[result] = bits;
    if (auto convert = dyn_cast<arith::SIToFPOp>(op);
        convert && convert.getType().isF32() &&
        convert.getIn().getType().isInteger(32))
      if (std::optional<int64_t> step = columnStep(convert.getIn());
          step && *step)
        steps[&op] = *step;
  }
  choose(which);
}

void ElementRegion::choose(Case which) {
  for (arith::SelectOp select : findUsualCases(body))
    choices[select.getResult()] = getCase(select, which);
  if (choices.empty())
    return;
  llvm::SmallPtrSet<Operation *, 32> needed;
  SmallVector<Value> open(body.getTerminator()->getOperands());
  while (!open.empty()) {
    Operation *op = chosen(open.pop_back_val()).getDefiningOp();
    if (op && op->getBlock() == &body && needed.insert(op).second)
      llvm::append_range(open, op->getOperands());
  }
  for (Operation &op : body.without_terminator())
    if (!needed.contains(&op))
      skipped.insert(&op);
}

/// What `value` stands for in this case.
Value ElementRegion::chosen(Value value) const {
  while (Value choice = choices.lookup(value))
    value = choice;
  return value;
}

/// What an i32 grows by from one key to the next, if that is always the same.
std::optional<int64_t> ElementRegion::columnStep(Value value) const {
  if (!(dependenceOf(value) & Column))
    return 0;
  if (value == columnArgument)
    return 1;
  Operation *op = value.getDefiningOp();
  if (!op || !isa<arith::AddIOp, arith::SubIOp>(op))
    return std::nullopt;
  std::optional<int64_t> lhs = columnStep(op->getOperand(0)),
                         rhs = columnStep(op->getOperand(1));
  if (!lhs || !rhs)
    return std::nullopt;
  return isa<arith::AddIOp>(op) ? *lhs + *rhs : *lhs - *rhs;
}

unsigned ElementRegion::dependenceOf(Value value) const {
  if (auto found = dependence.find(value); found != dependence.end())
    return found->second;
  // From outside the region. What the loop over key blocks defines is forgotten
  // with the columns of a block.
  bool inLoop = loop && loop->isAncestor(value.getParentBlock()->getParentOp());
  return inLoop ? Column : Uniform;
}

/// Whether the range of `op` is of keys, which lanes classify blocks of their
/// own of. A bounds region has query rows only.
bool ElementRegion::differsByLane(attn::ExtremaOp op) const {
  constexpr unsigned firstOfKeys = 2;
  SmallVector<Value> open(op.getOperands().drop_front());
  llvm::SmallPtrSet<Value, 16> seen;
  while (!open.empty()) {
    Value value = open.pop_back_val();
    if (!seen.insert(value).second)
      continue;
    if (auto argument = dyn_cast<BlockArgument>(value)) {
      if (argument.getOwner() == &body &&
          argument.getArgNumber() >= firstOfKeys)
        return true;
    } else if (value.getParentBlock() == &body) {
      llvm::append_range(open, value.getDefiningOp()->getOperands());
    }
  }
  return false;
}

void ElementRegion::startBlock() {
  startBranch();
  loaded.clear();
}

void ElementRegion::startBranch() {
  rows.clear();
  columns.clear();
  bases.clear();
}

void ElementRegion::emitUniform(LocBuilder &b) {
  auto lookup = [&](Value value) {
    return uniform.contains(value) ? uniform.lookup(value)
                                   : outer.lookupOrDefault(value);
  };
  for (Operation &op : body.without_terminator())
    if (op.getNumResults() && dependenceOf(op.getResult(0)) == Uniform &&
        !skipped.contains(&op))
      emitOperation(b, op, uniform, lookup);
}

struct ElementRegion::Emission {
  Emission(ElementRegion &region, ValueRange arguments, unsigned row,
           unsigned column, bool splitting)
      : region(region), row(row), column(column), splitting(splitting) {
    own.map(region.body.getArguments(), arguments);
    // The maps exist from now on: references to them stay valid.
    (void)region.rows[row];
    (void)region.columns[column];
  }

  /// Where values of this dependence are.
  IRMapping &map(unsigned dependence) {
    return dependence == Uniform  ? region.uniform
           : dependence == Row    ? region.rows[row]
           : dependence == Column ? region.columns[column]
                                  : own;
  }

  ElementRegion &region;
  unsigned row, column;
  bool splitting;
  IRMapping own;
  /// Values that are known as a sum and have not been added up.
  llvm::DenseMap<Value, Split> splits;
};

static Value contracted(Operation *op) {
  // A multiplication and the addition that follows it may be one fma.
  op->setAttr("fastmath",
              arith::FastMathFlagsAttr::get(op->getContext(),
                                            arith::FastMathFlags::contract));
  return op->getResult(0);
}

Value ElementRegion::lookUp(LocBuilder &b, Emission &element, Value value) {
  value = chosen(value);
  // The arguments of this element are in the element's own map, whatever they
  // depend on.
  if (element.own.contains(value))
    return element.own.lookup(value);
  if (auto split = element.splits.find(value); split != element.splits.end()) {
    Value sum = contracted(
        arith::AddFOp::create(b, split->second.row, split->second.element));
    element.own.map(value, sum);
    return sum;
  }
  IRMapping &map = element.map(dependenceOf(value));
  return map.contains(value) ? map.lookup(value) : outer.lookupOrDefault(value);
}

/// A sum of what differs along the row and what does not, where `op` makes one
/// or hands one on.
std::optional<ElementRegion::Split>
ElementRegion::splitOperation(LocBuilder &b, Emission &element, Operation &op) {
  if (auto step = steps.find(&op); step != steps.end()) {
    auto &[base, first] = bases[{&op, element.row}];
    if (!base) {
      IRMapping converted;
      emitOperation(b, op, converted,
                    [&](Value value) { return lookUp(b, element, value); });
      base = converted.lookup(op.getResult(0));
      first = element.column;
    }
    int64_t further = columnOffsets[element.column] - columnOffsets[first];
    auto constant =
        FloatAttr::get(b.getF32Type(), double(step->second * further));
    return Split{arith::ConstantOp::create(b, constant), base};
  }
  if (!isa<arith::MulFOp, arith::AddFOp, arith::SubFOp>(op) ||
      !op.getResult(0).getType().isF32() ||
      !(dependenceOf(op.getResult(0)) & Column))
    return std::nullopt;
  auto partsOf = [&](Value value) -> Split {
    value = chosen(value);
    if (auto split = element.splits.find(value); split != element.splits.end())
      return split->second;
    Value emitted = lookUp(b, element, value);
    bool alongRow = dependenceOf(value) & Column;
    return alongRow ? Split{emitted, {}} : Split{{}, emitted};
  };
  Split x = partsOf(op.getOperand(0)), y = partsOf(op.getOperand(1));
  if (isa<arith::MulFOp>(op)) {
    // Sums times what is the same in the row.
    if (!x.element)
      std::swap(x, y);
    if (!x.element || !x.row || y.element)
      return std::nullopt;
    return Split{contracted(arith::MulFOp::create(b, x.element, y.row)),
                 contracted(arith::MulFOp::create(b, x.row, y.row))};
  }
  if (!x.row && !y.row)
    return std::nullopt;
  bool subtracts = isa<arith::SubFOp>(op);
  auto combine = [&](Value u, Value v) -> Value {
    if (!u && v && subtracts)
      return arith::NegFOp::create(b, v);
    if (!u || !v)
      return u ? u : v;
    return contracted(subtracts
                          ? arith::SubFOp::create(b, u, v).getOperation()
                          : arith::AddFOp::create(b, u, v).getOperation());
  };
  return Split{combine(x.element, y.element), combine(x.row, y.row)};
}

bool ElementRegion::sharesReciprocal(Operation &op) {
  auto divide = dyn_cast<arith::DivFOp>(op);
  return divide && dependenceOf(divide.getResult()) == Element &&
         canShareReciprocal(divide, ranges.of(divide.getRhs()));
}

bool ElementRegion::sharesReciprocals() {
  return llvm::any_of(body.without_terminator(), [&](Operation &op) {
    return !skipped.contains(&op) && sharesReciprocal(op);
  });
}

void ElementRegion::emitShared(LocBuilder &b, MutableArrayRef<Emission> group,
                               Operation &op) {
  auto divide = cast<arith::DivFOp>(op);
  auto quotients = emitSharedReciprocal(
      b, divide, group.size(), [&](unsigned element, Value value) {
        return lookUp(b, group[element], value);
      });
  for (auto [element, quotient] : llvm::zip(group, quotients))
    element.own.map(divide.getResult(), quotient);
}

void ElementRegion::emitBody(LocBuilder &b, MutableArrayRef<Emission> group) {
  for (Operation &op : body.without_terminator()) {
    if (skipped.contains(&op))
      continue;
    Value result = op.getResult(0);
    if (group.size() > 1 && sharesReciprocal(op)) {
      emitShared(b, group, op);
      continue;
    }
    for (Emission &element : group) {
      IRMapping &map = element.map(dependenceOf(result));
      if (map.contains(result))
        continue;
      if (element.splitting)
        if (std::optional<Split> split = splitOperation(b, element, op)) {
          element.splits[result] = *split;
          continue;
        }
      if (auto given = loaded.find({&op, {element.row, element.column}});
          given != loaded.end()) {
        map.map(result, given->second);
        continue;
      }
      emitOperation(b, op, map,
                    [&](Value value) { return lookUp(b, element, value); });
    }
  }
}

SmallVector<Value> ElementRegion::emit(LocBuilder &b, ValueRange values,
                                       unsigned row, unsigned column) {
  Emission element(*this, values, row, column, /*splitting=*/false);
  emitBody(b, element);
  return llvm::map_to_vector(
      body.getTerminator()->getOperands(),
      [&](Value value) { return lookUp(b, element, value); });
}

void ElementRegion::emitNeeded(LocBuilder &b, Emission &element, Value value) {
  value = chosen(value);
  Operation *op = value.getDefiningOp();
  if (!op || op->getBlock() != &body || element.own.contains(value))
    return;
  IRMapping &map = element.map(dependenceOf(value));
  if (map.contains(value))
    return;
  if (Value given = loaded.lookup({op, {element.row, element.column}})) {
    map.map(value, given);
    return;
  }
  for (Value operand : op->getOperands())
    emitNeeded(b, element, operand);
  emitOperation(b, *op, map,
                [&](Value operand) { return lookUp(b, element, operand); });
}

Value ElementRegion::emitValue(LocBuilder &b, Value value, ValueRange arguments,
                               unsigned row, unsigned column) {
  Emission element(*this, arguments, row, column, /*splitting=*/false);
  emitNeeded(b, element, value);
  return lookUp(b, element, value);
}

SmallVector<ElementRegion::Split>
ElementRegion::emitSplit(LocBuilder &b, ArrayRef<Place> group) {
  std::vector<Emission> elements;
  for (const Place &place : group)
    elements.emplace_back(*this, place.arguments, place.row, place.column,
                          /*splitting=*/true);
  emitBody(b, elements);
  Value yielded = chosen(body.getTerminator()->getOperand(0));
  return llvm::map_to_vector(elements, [&](Emission &element) {
    auto split = element.splits.find(yielded);
    return split != element.splits.end()
               ? split->second
               : Split{lookUp(b, element, yielded), {}};
  });
}

/// bf16 is the upper half of f32: a shift, where the conversion instruction
/// would share the unit of the exponentials.
static Value widenBF16(LocBuilder &b, Value value) {
  Type i32 = b.getI32Type();
  Value bits = arith::ExtUIOp::create(
      b, i32, arith::BitcastOp::create(b, b.getI16Type(), value));
  Value shifted =
      arith::ShLIOp::create(b, bits, arith::ConstantIntOp::create(b, i32, 16));
  return arith::BitcastOp::create(b, b.getF32Type(), shifted);
}

void ElementRegion::emitOperation(LocBuilder &b, Operation &op, IRMapping &into,
                                  function_ref<Value(Value)> lookup) {
  Location saved = b.getLoc();
  b.setLoc(op.getLoc());
  auto operands = llvm::map_to_vector(op.getOperands(), lookup);
  auto emitted = [&]() -> Value {
    if (auto load = dyn_cast<attn::LoadOp>(op))
      return arguments.loadClamped(load.getBuffer(),
                                   ValueRange(operands).drop_front());
    if (auto extent = dyn_cast<attn::ExtentOp>(op))
      return arguments.extentOfCall(extent.getKind());
    if (auto search = dyn_cast<attn::SearchOp>(op))
      return emitSearch(b, arguments, search,
                        ValueRange(operands).drop_front().drop_back(),
                        operands.back());
    if (auto extrema = dyn_cast<attn::ExtremaOp>(op)) {
      ValueRange indices = ValueRange(operands).drop_front().drop_back();
      std::optional<std::pair<Value, Value>> known;
      if (readExtrema)
        known = readExtrema(extrema, indices);
      auto [least, greatest] =
          known ? *known
                : emitExtrema(b, arguments, extrema, indices, operands.back(),
                              !differsByLane(extrema));
      into.map(extrema.getGreatest(), greatest);
      return least;
    }
    if (isa<arith::ExtFOp>(op) && operands[0].getType().isBF16() &&
        op.getResult(0).getType().isF32())
      return widenBF16(b, operands[0]);
    if (isa<math::Exp2Op>(op))
      return nvvm::exp2Approx(b, operands[0]);
    if (isa<math::SqrtOp>(op))
      return nvvm::sqrtApprox(b, operands[0]);
    if (isa<math::RsqrtOp>(op))
      return nvvm::rsqrtApprox(b, operands[0]);
    if (isa<math::TanhOp>(op))
      return nvvm::tanhApprox(b, operands[0]);
    if (auto divide = dyn_cast<arith::DivFOp>(op);
        divide && divide.getType().isF32()) {
      if (bitEnumContainsAny(divide.getFastmath(), arith::FastMathFlags::arcp))
        return arith::MulFOp::create(b, operands[0],
                                     nvvm::rcpApprox(b, operands[1]));
      return nvvm::divApprox(b, operands[0], operands[1]);
    }
    OperationState state(op.getLoc(), op.getName(), operands,
                         op.getResultTypes(), op.getAttrs());
    Operation *clone = b.create(state);
    return isa<arith::MulFOp, arith::AddFOp, arith::SubFOp>(clone)
               ? contracted(clone)
               : clone->getResult(0);
  }();
  into.map(op.getResult(0), emitted);
  b.setLoc(saved);
}
