// Masks that are read as packed bits.
#include "lowering/common/SwapSides.h"
#include "lowering/gpu/ControlFlow.h"
#include "lowering/gpu/MaskEmission.h"

#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace qm;
using namespace qm::gpu;
using arith::CmpIPredicate;

attn::LoadOp qm::gpu::matchBit(Value predicate, Value key, bool &negated) {
  auto compare = predicate.getDefiningOp<arith::CmpIOp>();
  APInt constant;
  if (!compare || !matchPattern(compare.getRhs(), m_ConstantInt(&constant)) ||
      !(constant.isZero() || constant.isOne()))
    return {};
  bool equal = compare.getPredicate() == CmpIPredicate::eq;
  if (!equal && compare.getPredicate() != CmpIPredicate::ne)
    return {};
  negated = equal == constant.isZero();
  auto bit = compare.getLhs().getDefiningOp<arith::AndIOp>();
  if (!bit || !matchPattern(bit.getRhs(), m_One()))
    return {};
  Operation *shift = bit.getLhs().getDefiningOp();
  if (!isa_and_present<arith::ShRSIOp, arith::ShRUIOp>(shift))
    return {};
  auto load = shift->getOperand(0).getDefiningOp<attn::LoadOp>();
  std::optional<Division> place = matchRemainder(shift->getOperand(1));
  if (!load || load.getIndices().empty() || !load.getType().isInteger(32))
    return {};
  std::optional<Division> word = matchQuotient(load.getIndices().back());
  bool matches = place && word && place->dividend == key &&
                 word->dividend == key && place->divisor == wordBits &&
                 word->divisor == wordBits;
  return matches ? load : attn::LoadOp();
}

/// Exchanges the bits `low` of a word with those `distance` further up.
static Int exchangeBits(LocBuilder &b, Int word, int64_t distance,
                        int64_t low) {
  Int differ = (word ^ (word >> distance)) & low;
  return word ^ differ ^ (differ << distance);
}

Value MaskWords::transpose(LocBuilder &b, Value word) {
  Int byHalves = exchangeBits(b, Int(b, word), 6, 0x00cc00cc);
  return exchangeBits(b, byHalves, 12, 0x0000f0f0);
}

/// From one bit a key, 32 keys a word, the thread's columns: byte k of the sum
/// has pair k of every word, that of word p in place p.
Value MaskWords::gatherPairs(Emission &emission, ArrayRef<Value> words) {
  LocBuilder &b = emission.b;
  Int firstColumn = (emission.place.lane & 3) * 2, gathered;
  for (auto [part, word] : llvm::enumerate(words)) {
    Int pairs = ((Int(b, word) >> firstColumn) & 0x03030303)
                << int64_t(2 * part);
    gathered =
        gathered ? Int(b, arith::OrIOp::create(b, gathered, pairs)) : pairs;
  }
  return gathered;
}

Value MaskWords::gatherColumns(Emission &emission, ArrayRef<Value> words) {
  return transpose(emission.b, gatherPairs(emission, words));
}

/// The words of a block's keys for each of the thread's rows. Where they lie
/// inside the buffer and side by side a row takes one load.
SmallVector<Value> MaskWords::readBits(Emission &emission, attn::LoadOp load) {
  LocBuilder &b = emission.b;
  Arguments &arguments = emission.region.getArguments();
  int64_t parts = blockKeys / wordBits, last = load.getIndices().size() - 1;
  int64_t together = parts == 2 || parts == 4 ? parts : 1;
  unsigned rows = emission.place.rows.size();
  Value buffer = load.getBuffer();
  Int firstWord = emission.place.firstKey / wordBits;
  Value inside = arith::AndIOp::create(
      b, (firstWord + parts).atMost(arguments.extent(buffer, last)),
      arguments.stride(buffer, last).equals(1));
  if (together > 1) {
    Int odd = arguments.pointer(buffer) >> 2;
    for (unsigned other = 0; other < last; ++other)
      odd = {b, arith::OrIOp::create(b, odd, arguments.stride(buffer, other))};
    inside = arith::AndIOp::create(b, inside, (odd & (together - 1)).equals(0));
  }
  auto readTogether = [&] {
    SmallVector<Value> values;
    for (unsigned row = 0; row < rows; ++row) {
      SmallVector<Int> others;
      for (auto [dimension, index] :
           llvm::enumerate(load.getIndices().drop_back())) {
        Int greatest = arguments.extent(buffer, dimension) - 1;
        others.push_back(emission.integer(index, row, 0)
                             .min(greatest)
                             .max(emission.constant(0)));
      }
      Int address =
          arguments.elementAddress(buffer, others) + firstWord.wide() * 4;
      for (int64_t part = 0; part < parts; part += together) {
        Value from = address + part * 4;
        if (together == 1)
          values.push_back(nvvm::loadGlobalInPlace(b, b.getI32Type(), from));
        else
          llvm::append_range(values, nvvm::loadWordsInPlace(b, together, from));
      }
    }
    return values;
  };
  auto readClamped = [&] {
    SmallVector<Value> values;
    emission.region.startBranch();
    for (unsigned row = 0; row < rows; ++row)
      for (unsigned part = 0; part < parts; ++part)
        values.push_back(emission.value(load, row, part * wordBits / 4));
    return values;
  };
  emission.region.startBranch();
  SmallVector<Type> types(rows * parts, b.getI32Type());
  Values read = emitEither(b, inside, types, readTogether, readClamped);
  emission.region.startBranch();
  return SmallVector<Value>(read);
}

Value MaskWords::emitBits(Emission &emission, Value predicate, unsigned row,
                          bool inColumnOrder) {
  bool negated;
  matchBit(predicate, body.getArgument(1), negated);
  unsigned parts = blockKeys / wordBits;
  auto words = ArrayRef(read[predicate]).slice(row * parts, parts);
  Value word = inColumnOrder ? gatherColumns(emission, words)
                             : gatherPairs(emission, words);
  return negated ? (Int(emission.b, word) ^ int64_t(-1)).get() : word;
}

//===----------------------------------------------------------------------===//
// Conditions that hold in most blocks
//===----------------------------------------------------------------------===//

bool MaskWords::hasBits(Value predicate) const {
  Form form = forms.lookup(predicate);
  return form == Form::Bits ||
         (form == Form::Combined &&
          llvm::any_of(predicate.getDefiningOp()->getOperands(),
                       [&](Value operand) { return hasBits(operand); }));
}

bool MaskWords::readsBits() const {
  return hasBits(body.getTerminator()->getOperand(0));
}

SmallVector<Value> MaskWords::conjuncts(Part part) const {
  Value mask = body.getTerminator()->getOperand(0);
  if (part == Part::All)
    return {mask};
  SmallVector<Value> open{mask}, found;
  while (!open.empty()) {
    Value value = open.pop_back_val();
    if (auto both = value.getDefiningOp<arith::AndIOp>();
        both && forms.lookup(value) == Form::Combined)
      llvm::append_range(open, both.getOperands());
    else if (hasBits(value) == (part == Part::Bits))
      found.push_back(value);
  }
  return found;
}

/// Null: not known.
Value MaskWords::keepsAll(Emission &emission, Value predicate, unsigned row) {
  LocBuilder &b = emission.b;
  auto all = [&](ArrayRef<Value> values) {
    Value result;
    for (Value value : values)
      result =
          result ? arith::AndIOp::create(b, result, value).getResult() : value;
    return result;
  };
  Operation *op = predicate.getDefiningOp();
  switch (forms.lookup(predicate)) {
  case Form::Bits: {
    bool negated;
    matchBit(predicate, body.getArgument(1), negated);
    unsigned parts = blockKeys / wordBits;
    auto words = ArrayRef(read[predicate]).slice(row * parts, parts);
    Value merged = words.front();
    for (Value word : words.drop_front())
      merged = negated ? arith::OrIOp::create(b, merged, word).getResult()
                       : arith::AndIOp::create(b, merged, word).getResult();
    return Int(b, merged).equals(negated ? 0 : -1);
  }
  case Form::Sampled: {
    SmallVector<Value> values;
    for (auto [column, first] : llvm::enumerate(*samples(predicate)))
      if (first == column)
        values.push_back(emission.value(predicate, row, column));
    return all(values);
  }
  case Form::Ordered: {
    // The value grows or falls along the keys: the last one that it keeps is at
    // one end.
    auto compare = cast<arith::CmpIOp>(op);
    CmpIPredicate order = compare.getPredicate();
    Value value = compare.getLhs();
    if (shapes.isConstant(value)) {
      value = compare.getRhs();
      order = lowering::swapSides(order);
    }
    if (order == CmpIPredicate::eq || order == CmpIPredicate::ne)
      return {};
    if (!shapes.of(value).isLinear())
      value = matchQuotient(value)->dividend;
    bool keepsLarge =
        order == CmpIPredicate::sge || order == CmpIPredicate::sgt;
    bool goesUp = shapes.of(value).step == 1;
    return emission.value(predicate, row,
                          keepsLarge == goesUp ? 0 : blockKeys / 4 - 1);
  }
  case Form::Combined: {
    if (!isa<arith::AndIOp>(op))
      return {};
    Value lhs = keepsAll(emission, op->getOperand(0), row);
    Value rhs = keepsAll(emission, op->getOperand(1), row);
    return lhs && rhs ? all({lhs, rhs}) : Value();
  }
  case Form::Lanes:
    return {};
  }
  llvm_unreachable("all forms are above");
}

Value MaskWords::emitKeepsAll(LocBuilder &b, ElementRegion &region,
                              const Place &place, Part part) {
  Emission emission(b, region, place);
  Value result = arith::ConstantIntOp::create(b, b.getI1Type(), true);
  for (Value condition : conjuncts(part))
    for (unsigned row = 0; row < place.rows.size(); ++row) {
      Value keeps = keepsAll(emission, condition, row);
      if (!keeps)
        return arith::ConstantIntOp::create(b, b.getI1Type(), false);
      result = arith::AndIOp::create(b, result, keeps);
    }
  return result;
}
