// Operands of 32 bits in matrix units that multiply narrower ones.
#include "lowering/sm80/WideOperands.h"

#include "lowering/sm80/Layout.h"

using namespace mlir;
using namespace qm;
using namespace qm::sm80;
using nvvm::Values;

/// A 16-bit row has two steps of 16 columns where f32 has one.
static constexpr unsigned halvesOfStep = 2;

/// Two elements of a pair; the first belongs to the lower column.
using Pair = std::pair<Value, Value>;

static Value asFloat(LocBuilder &b, Value bits) {
  return arith::BitcastOp::create(b, b.getF32Type(), bits);
}

/// The bf16 in the low or high half of `word`, as f32.
static Value half(LocBuilder &b, Value word, bool high) {
  auto constant = [&](int32_t value) -> Value {
    return arith::ConstantIntOp::create(b, b.getI32Type(), value);
  };
  Value bits =
      high ? arith::AndIOp::create(b, word, constant(-0x10000)).getResult()
           : arith::ShLIOp::create(b, word, constant(16)).getResult();
  return asFloat(b, bits);
}

/// What `pairs` are as operands: their high parts, then their low parts.
static Values splitPairs(LocBuilder &b, ArrayRef<Pair> pairs) {
  Type bf16 = b.getBF16Type();
  Values high, low;
  for (auto [x, y] : pairs) {
    Value word = nvvm::packPair(b, bf16, x, y);
    high.push_back(word);
    low.push_back(nvvm::packPair(
        b, bf16, arith::SubFOp::create(b, x, half(b, word, false)),
        arith::SubFOp::create(b, y, half(b, word, true))));
  }
  llvm::append_range(high, low);
  return high;
}

/// Operands from pairs in the order of the 16-bit instruction. Two instructions
/// for 8 columns each take the first half of the pairs and the second: of a
/// half, the pairs' first elements and then their second ones.
static Values makeOperand(KernelState &state, ArrayRef<Pair> pairs) {
  if (state.plan.products == Products::Bf16x3)
    return splitPairs(state.b, pairs);
  Values words;
  size_t count = pairs.size() / 2;
  for (ArrayRef<Pair> part :
       {pairs.take_front(count), pairs.drop_front(count)}) {
    for (const Pair &pair : part)
      words.push_back(nvvm::roundToTf32(state.b, pair.first));
    for (const Pair &pair : part)
      words.push_back(nvvm::roundToTf32(state.b, pair.second));
  }
  return words;
}

/// Four 8x4 matrices of f32 at 8 columns.
static Values readMatrices(KernelState &state, Int base, int64_t bytes,
                           int rowBytes, unsigned eightColumns) {
  ColumnStep column = columnStep(eightColumns, rowBytes);
  Values words = nvvm::ldmatrixX4(state.b, base, column.swizzle,
                                  bytes + column.bytes, /*transposed=*/false);
  for (Value &word : words)
    word = asFloat(state.b, word);
  return words;
}

Values qm::sm80::readWideLeft(KernelState &state, Int base, int64_t bytes,
                              int rowBytes, unsigned step) {
  // Matrices: rows 0-7 and 8-15 of columns 0-3, then of columns 4-7.
  SmallVector<Pair> pairs;
  for (unsigned part = 0; part < halvesOfStep; ++part) {
    Values m =
        readMatrices(state, base, bytes, rowBytes, halvesOfStep * step + part);
    pairs.append({{m[0], m[2]}, {m[1], m[3]}});
  }
  return makeOperand(state, pairs);
}

Values qm::sm80::readWideKeys(KernelState &state, Int base, int64_t bytes,
                              int rowBytes, unsigned step) {
  // Matrices: columns 0-3 and 4-7 of rows 0-7, then of rows 8-15.
  Values first =
      readMatrices(state, base, bytes, rowBytes, halvesOfStep * step);
  Values second =
      readMatrices(state, base, bytes, rowBytes, halvesOfStep * step + 1);
  Values words;
  for (unsigned keys : {0, 2})
    llvm::append_range(words,
                       makeOperand(state, {{first[keys], first[keys + 1]},
                                           {second[keys], second[keys + 1]}}));
  return words;
}

Values qm::sm80::readWideValues(KernelState &state, Int base, int64_t bytes,
                                int rowBytes, unsigned step) {
  Values words;
  for (unsigned part = 0; part < halvesOfStep; ++part) {
    ColumnStep column = columnStep(halvesOfStep * step + part, rowBytes);
    SmallVector<Pair> pairs;
    for (int64_t key : {0, 8}) {
      auto read = [&](int64_t row) {
        ColumnStep place = wideValueRow(int(row), rowBytes);
        return nvvm::loadSharedF32(state.b, base,
                                   column.swizzle ^ place.swizzle,
                                   bytes + place.bytes + column.bytes);
      };
      pairs.push_back({read(key), read(key + 1)});
    }
    llvm::append_range(words, makeOperand(state, pairs));
  }
  return words;
}

Packed qm::sm80::packWide(KernelState &state, Accumulator &tile) {
  Packed packed{tile.groups / 2, {}, state.plan.leftWords()};
  for (unsigned t = 0; t < tile.rowTiles; ++t)
    for (unsigned group = 0; group < tile.groups; group += 2) {
      SmallVector<Pair> pairs;
      for (unsigned part : {group, group + 1})
        for (unsigned row : {0, 2})
          pairs.push_back({tile.at(t, part, row), tile.at(t, part, row + 1)});
      llvm::append_range(packed.words, makeOperand(state, pairs));
    }
  return packed;
}

Values qm::sm80::multiplyWide(KernelState &state, ValueRange a,
                              ValueRange bFragment, ValueRange c) {
  LocBuilder &b = state.b;
  if (state.plan.products == Products::Tf32) {
    Values first =
        nvvm::mmaTf32M16N8K8(b, a.take_front(4), bFragment.take_front(2), c);
    return nvvm::mmaTf32M16N8K8(b, a.drop_front(4), bFragment.drop_front(2),
                                first);
  }
  Type bf16 = b.getBF16Type();
  ValueRange high = a.take_front(4), low = a.drop_front(4),
             highB = bFragment.take_front(2), lowB = bFragment.drop_front(2);
  // The small products first.
  Values sum = nvvm::mmaM16N8K16(b, bf16, low, highB, c);
  sum = nvvm::mmaM16N8K16(b, bf16, high, lowB, sum);
  return nvvm::mmaM16N8K16(b, bf16, high, highB, sum);
}
