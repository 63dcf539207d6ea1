// The mask of a block as one bit an element.
#include "lowering/gpu/MaskWords.h"
#include "lowering/common/SwapSides.h"
#include "lowering/gpu/ControlFlow.h"
#include "lowering/gpu/MaskEmission.h"

#include "mlir/IR/Matchers.h"

#include "llvm/ADT/Sequence.h"

using namespace mlir;
using namespace qm;
using namespace qm::gpu;
using arith::CmpIPredicate;

/// What a value depends on.
static constexpr unsigned onRow = 1, onKey = 2;
static constexpr int64_t lanes = 32;
/// Conditions that are asked for so many columns are no dearer element by
/// element.
static constexpr unsigned maxSamples = 16;

//===----------------------------------------------------------------------===//
// Analysis
//===----------------------------------------------------------------------===//

MaskWords::MaskWords(Block &body, int64_t blockKeys)
    : body(body), blockKeys(blockKeys), shapes(body, blockKeys) {
  dependence[body.getArgument(0)] = onRow;
  dependence[body.getArgument(1)] = onKey;
  for (Operation &op : body.without_terminator()) {
    unsigned on = 0;
    for (Value operand : op.getOperands())
      on |= dependence.lookup(operand);
    for (Value result : op.getResults())
      dependence[result] = on;
  }
}

std::unique_ptr<MaskWords> MaskWords::get(Block &body, int64_t blockKeys) {
  if (blockKeys % 8 || blockKeys > mostKeys)
    return nullptr;
  std::unique_ptr<MaskWords> words(new MaskWords(body, blockKeys));
  if (!words->analyze(body.getTerminator()->getOperand(0)))
    return nullptr;
  return words;
}

bool MaskWords::analyze(Value predicate) {
  if (forms.contains(predicate))
    return true;
  std::optional<Form> form = formOf(predicate);
  if (!form)
    return false;
  forms[predicate] = *form;
  return *form != Form::Combined ||
         llvm::all_of(predicate.getDefiningOp()->getOperands(),
                      [&](Value operand) { return analyze(operand); });
}

/// For every column the first one that the predicate has the same answer for.
std::optional<SmallVector<unsigned>> MaskWords::samples(Value predicate) {
  ColumnShape shape = shapes.of(predicate);
  SmallVector<unsigned> first;
  unsigned count = 0;
  for (unsigned column = 0; column < blockKeys / 4; ++column) {
    int64_t group = column / 2;
    switch (shape.kind) {
    case ColumnShape::Steps:
      if (shape.size % 8)
        return std::nullopt;
      first.push_back(group * 8 / shape.size * (shape.size / 8) * 2);
      break;
    case ColumnShape::Periodic:
      if (shape.size % 8 && 8 % shape.size)
        return std::nullopt;
      first.push_back(group % std::max<int64_t>(shape.size / 8, 1) * 2 +
                      column % 2);
      break;
    default:
      return std::nullopt;
    }
    count += first.back() == column;
  }
  return count <= maxSamples ? std::optional(first) : std::nullopt;
}

bool MaskWords::isOrdered(arith::CmpIOp compare) {
  if (!compare.getLhs().getType().isInteger(32))
    return false;
  switch (compare.getPredicate()) {
  case CmpIPredicate::ult:
  case CmpIPredicate::ule:
  case CmpIPredicate::ugt:
  case CmpIPredicate::uge:
    return false;
  default:
    break;
  }
  auto goesUp = [&](Value value) {
    if (shapes.of(value).isLinear())
      return true;
    std::optional<Division> quotient = matchQuotient(value);
    if (!quotient || !shapes.of(quotient->dividend).isLinear())
      return false;
    // Multiples of the divisor about the range have to fit.
    const ConstantIntRanges &range = shapes.rangeOf(quotient->dividend);
    int64_t margin = 3 * quotient->divisor;
    return range.smin().getSExtValue() - margin >= INT32_MIN &&
           range.smax().getSExtValue() + margin <= INT32_MAX;
  };
  Value lhs = compare.getLhs(), rhs = compare.getRhs();
  return (goesUp(lhs) && shapes.isConstant(rhs)) ||
         (goesUp(rhs) && shapes.isConstant(lhs));
}

bool MaskWords::isOfKey(Value value) const {
  return dependence.lookup(value) == onKey;
}

/// Conditions on what is read by key alone: the lanes of a warp read it for all
/// keys of the block. They may compare it with something of the row.
bool MaskWords::isLanes(Value predicate) {
  if (blockKeys % lanes)
    return false;
  if (isOfKey(predicate))
    return true;
  auto compare = predicate.getDefiningOp<arith::CmpIOp>();
  if (!compare || !compare.getLhs().getType().isInteger(32))
    return false;
  Value ofKey = compare.getLhs(), ofRow = compare.getRhs();
  if (!isOfKey(ofKey))
    std::swap(ofKey, ofRow);
  return isOfKey(ofKey) && dependence.lookup(ofRow) == onRow;
}

std::optional<MaskWords::Form> MaskWords::formOf(Value predicate) {
  if (samples(predicate))
    return Form::Sampled;
  Operation *op = predicate.getDefiningOp();
  if (auto compare = dyn_cast_or_null<arith::CmpIOp>(op);
      compare && isOrdered(compare))
    return Form::Ordered;
  bool negated;
  if (blockKeys % wordBits == 0)
    if (attn::LoadOp load = matchBit(predicate, body.getArgument(1), negated))
      if (llvm::all_of(load.getIndices().drop_back(),
                       [&](Value index) { return shapes.isConstant(index); }))
        return Form::Bits;
  if (isa_and_present<arith::AndIOp, arith::OrIOp, arith::XOrIOp,
                      arith::SelectOp>(op))
    return Form::Combined;
  if (isLanes(predicate))
    return Form::Lanes;
  return std::nullopt;
}

//===----------------------------------------------------------------------===//
// Emission
//===----------------------------------------------------------------------===//

Value MaskWords::columnsFrom(LocBuilder &b, Int offset, int64_t blockKeys) {
  Int two = Int::constant(b, 2);
  Int inside = offset.max(Int::constant(b, 0)).min(Int::constant(b, blockKeys));
  // Pairs of columns come every eight keys.
  Int before = (inside >> 3) * 2 + (inside & 7).min(two);
  return nvvm::shiftLeftClamped(b, Int::constant(b, -1), before);
}

void MaskWords::select(LocBuilder &b, MutableArrayRef<Value> elements,
                       ArrayRef<Value> words, function_ref<Bit(unsigned)> bitOf,
                       Value fill) {
  // As the bits lie: the machine tests up to seven of a word at once.
  auto order = llvm::to_vector(llvm::seq<unsigned>(0, elements.size()));
  llvm::sort(order, [&](unsigned lhs, unsigned rhs) {
    Bit left = bitOf(lhs), right = bitOf(rhs);
    return std::pair(left.row, left.bit) < std::pair(right.row, right.bit);
  });
  for (unsigned element : order) {
    auto [row, number] = bitOf(element);
    Int bit = Int(b, words[row]) & int64_t(int32_t(uint32_t(1) << number));
    Value keep =
        arith::CmpIOp::create(b, CmpIPredicate::ne, bit, Int::constant(b, 0));
    elements[element] =
        arith::SelectOp::create(b, keep, elements[element], fill);
  }
}

static Value invert(LocBuilder &b, Value word) {
  return Int(b, word) ^ int64_t(-1);
}

Value MaskWords::emitSampled(Emission &emission, Value predicate,
                             unsigned row) {
  SmallVector<unsigned> first = *samples(predicate);
  Value word;
  for (unsigned column = 0; column < first.size(); ++column) {
    if (first[column] != column)
      continue;
    uint32_t same = 0;
    for (unsigned other = column; other < first.size(); ++other)
      if (first[other] == column)
        same |= uint32_t(1) << other;
    Value bits =
        emission.choose(emission.value(predicate, row, column),
                        emission.constant(int32_t(same)), emission.constant(0));
    word =
        word ? arith::OrIOp::create(emission.b, word, bits).getResult() : bits;
  }
  return word;
}

Value MaskWords::emitOrdered(Emission &emission, arith::CmpIOp compare,
                             unsigned row) {
  LocBuilder &b = emission.b;
  Value value = compare.getLhs(), limit = compare.getRhs();
  CmpIPredicate predicate = compare.getPredicate();
  if (shapes.isConstant(value)) {
    std::swap(value, limit);
    predicate = lowering::swapSides(predicate);
  }
  // The least number that the condition holds from, and the least above it: a
  // quotient is at least n from n times the divisor on.
  Int from = emission.integer(limit, row, 0);
  int64_t width = 1;
  if (!shapes.of(value).isLinear()) {
    Division quotient = *matchQuotient(value);
    value = quotient.dividend;
    width = quotient.divisor;
    const ConstantIntRanges &range = shapes.rangeOf(value);
    from =
        from.max(emission.constant(range.smin().getSExtValue() / width - 1))
            .min(emission.constant(range.smax().getSExtValue() / width + 1)) *
        width;
  }
  // The value at column offset o is first + step o.
  Int first = emission.integer(value, row, 0);
  bool goesUp = shapes.of(value).step == 1;
  auto above = [&](int64_t further) -> Value { // value >= from + further
    Int most = emission.constant(blockKeys), least = emission.constant(-width);
    if (goesUp) {
      Int offset(b, nvvm::subtractSaturating(b, from, first));
      return columnsFrom(b, offset.min(most).max(least) + further, blockKeys);
    }
    // o <= first - from - further
    Int offset(b, nvvm::subtractSaturating(b, first, from));
    return invert(b,
                  columnsFrom(b,
                              offset.min(emission.constant(blockKeys + width))
                                      .max(emission.constant(-1)) +
                                  (1 - further),
                              blockKeys));
  };
  switch (predicate) {
  case CmpIPredicate::sge:
    return above(0);
  case CmpIPredicate::slt:
    return invert(b, above(0));
  case CmpIPredicate::sgt:
    return above(width);
  case CmpIPredicate::sle:
    return invert(b, above(width));
  default:
    break;
  }
  Value equal = arith::AndIOp::create(b, above(0), invert(b, above(width)));
  return predicate == CmpIPredicate::eq ? equal : invert(b, equal);
}

Value MaskWords::emitCombined(Emission &emission, Operation &op, unsigned row) {
  LocBuilder &b = emission.b;
  auto words = llvm::map_to_vector(op.getOperands(), [&](Value operand) {
    return emitWord(emission, operand, row);
  });
  if (isa<arith::AndIOp>(op))
    return arith::AndIOp::create(b, words[0], words[1]);
  if (isa<arith::OrIOp>(op))
    return arith::OrIOp::create(b, words[0], words[1]);
  if (isa<arith::XOrIOp>(op))
    return arith::XOrIOp::create(b, words[0], words[1]);
  return arith::OrIOp::create(
      b, arith::AndIOp::create(b, words[0], words[1]),
      arith::AndIOp::create(b, invert(b, words[0]), words[2]));
}

void MaskWords::begin(LocBuilder &b, ElementRegion &region,
                      const Place &place) {
  read.clear();
  Emission emission(b, region, place);
  unsigned columns = blockKeys / 4;
  for (auto [predicate, form] : forms) {
    SmallVector<Value> &values = read[predicate];
    bool negated;
    if (form == Form::Bits) {
      values =
          readBits(emission, matchBit(predicate, body.getArgument(1), negated));
    } else if (form == Form::Lanes) {
      auto compare = predicate.getDefiningOp<arith::CmpIOp>();
      bool alone = isOfKey(predicate);
      Value ofKey = predicate, ofRow;
      if (!alone) {
        ofKey = compare.getLhs(), ofRow = compare.getRhs();
        if (!isOfKey(ofKey))
          std::swap(ofKey, ofRow);
      }
      for (unsigned part = 0; part < blockKeys / lanes; ++part) {
        Int key = place.firstKey + place.lane + int64_t(part * lanes);
        // Numbers of columns that no element has.
        values.push_back(region.emitValue(b, ofKey, {place.rows[0], key}, 0,
                                          columns + part));
      }
      for (unsigned row = 0; !alone && row < place.rows.size(); ++row)
        values.push_back(emission.value(ofRow, row, 0));
    }
  }
}

/// One ballot of 32 keys for each row that the warp has, or one for all rows
/// where they have the same value.
void MaskWords::emitLanes(Emission &emission, Value predicate) {
  LocBuilder &b = emission.b;
  unsigned parts = blockKeys / lanes, rows = emission.place.rows.size();
  ArrayRef<Value> values = read[predicate];
  ArrayRef<Value> ofKeys = values.take_front(parts),
                  ofRows = values.drop_front(parts);
  if (ofRows.empty()) {
    SmallVector<Value> words;
    for (Value holds : ofKeys)
      words.push_back(nvvm::ballot(b, holds));
    Value word = gatherColumns(emission, words);
    for (unsigned row = 0; row < rows; ++row)
      emission.words[{predicate, row}] = word;
    return;
  }
  auto compare = predicate.getDefiningOp<arith::CmpIOp>();
  bool keyFirst = isOfKey(compare.getLhs());
  // The lanes of a row are neighbours: lane 4 n is the first of row n.
  Int rowOfLane = emission.place.lane >> 2;
  Value differ;
  for (Value value : ofRows) {
    Value other = arith::CmpIOp::create(b, CmpIPredicate::ne, value,
                                        nvvm::broadcastLane0(b, value));
    differ =
        differ ? arith::OrIOp::create(b, differ, other).getResult() : other;
  }
  Value different = nvvm::voteAny(b, differ);
  Int count =
      emission.choose(different, emission.constant(8), emission.constant(1));
  SmallVector<Value> inits{emission.constant(0)};
  inits.append(rows * parts, emission.constant(0));
  Values found = emitWhile(
      b, inits,
      [&](ValueRange carried) -> Value {
        return Int(b, carried.front()).lessThan(count);
      },
      [&](ValueRange carried) {
        Int number(b, carried.front());
        // Without a difference the first row speaks for all.
        Value mine = arith::OrIOp::create(
            b, rowOfLane.equals(number),
            arith::CmpIOp::create(b, CmpIPredicate::eq, count,
                                  emission.constant(1)));
        Values next{number + 1};
        for (unsigned row = 0; row < rows; ++row) {
          Value ofRow = nvvm::broadcastLane(b, ofRows[row], number * 4);
          for (unsigned part = 0; part < parts; ++part) {
            Value holds = arith::CmpIOp::create(
                b, compare.getPredicate(), keyFirst ? ofKeys[part] : ofRow,
                keyFirst ? ofRow : ofKeys[part]);
            next.push_back(emission.choose(mine, nvvm::ballot(b, holds),
                                           carried[1 + row * parts + part]));
          }
        }
        return next;
      });
  ArrayRef<Value> words = ArrayRef<Value>(found).drop_front();
  for (unsigned row = 0; row < rows; ++row)
    emission.words[{predicate, row}] =
        gatherColumns(emission, words.slice(row * parts, parts));
}

Value MaskWords::emitWord(Emission &emission, Value predicate, unsigned row) {
  if (Value known = emission.words.lookup({predicate, row}))
    return known;
  Value word;
  switch (forms.lookup(predicate)) {
  case Form::Sampled:
    word = emitSampled(emission, predicate, row);
    break;
  case Form::Ordered:
    word = emitOrdered(emission, predicate.getDefiningOp<arith::CmpIOp>(), row);
    break;
  case Form::Combined:
    word = emitCombined(emission, *predicate.getDefiningOp(), row);
    break;
  case Form::Lanes:
    emitLanes(emission, predicate);
    return emission.words.lookup({predicate, row});
  case Form::Bits:
    word = emitBits(emission, predicate, row, /*inColumnOrder=*/true);
    break;
  }
  emission.words[{predicate, row}] = word;
  return word;
}

SmallVector<Value> MaskWords::emit(LocBuilder &b, ElementRegion &region,
                                   const Place &place, Part part) {
  Emission emission(b, region, place);
  SmallVector<Value> words(place.rows.size());
  for (Value condition : conjuncts(part))
    for (auto [row, word] : llvm::enumerate(words)) {
      bool bits = part == Part::Bits;
      Value further =
          bits && forms.lookup(condition) == Form::Bits
              ? emitBits(emission, condition, row, /*inColumnOrder=*/false)
              : emitWord(emission, condition, row);
      if (bits && forms.lookup(condition) != Form::Bits)
        further = transpose(b, further);
      word =
          word ? arith::AndIOp::create(b, word, further).getResult() : further;
    }
  return words;
}
