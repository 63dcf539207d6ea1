// Row maxima by integers. The bits of floats that are not negative are ordered
// as integers are, and the maximum of three integers is one instruction where
// that of three floats is two. A row without a score that is not negative is
// seen by its sign: the maximum is then the smallest magnitude, the unsigned
// minimum of its bits, taken in a branch of its own.
#include "lowering/sm90/RowMaxima.h"

using namespace mlir;
using namespace qm;
using namespace qm::sm90;

template <class Op>
static Int combine(Int a, Value b, LocBuilder &builder) {
  return a ? Int(builder, Op::create(builder, a, b)) : Int(builder, b);
}

/// The thread's part of each row, combined as integers.
template <class Op>
static std::array<Int, 2> foldRows(KernelState &state, ArrayRef<Value> bits) {
  std::array<Int, 2> rows;
  for (auto [e, value] : llvm::enumerate(bits)) {
    Int &row = rows[Fragment::rowOf(e)];
    row = combine<Op>(row, value, state.b);
  }
  return rows;
}

/// Both rows over their four lanes.
template <class Op>
static void foldLanes(KernelState &state, std::array<Int, 2> &rows) {
  for (unsigned mask : {1, 2})
    for (Int &row : rows)
      row = combine<Op>(row, nvvm::shuffleXor(state.b, row, mask), state.b);
}

Values qm::sm90::rowMaxima(KernelState &state, const BlockScores &scores) {
  LocBuilder &b = state.b;
  Values bits;
  for (Value score : scores.elements.values)
    bits.push_back(arith::BitcastOp::create(b, b.getI32Type(), score));
  // A term is that of the thread's part of the row, because lanes start at
  // other keys: it is added before lanes are compared.
  bool hasTerms = scores.rowTerms[0] || scores.rowTerms[1];
  std::array<Int, 2> rows = foldRows<arith::MaxSIOp>(state, bits);
  if (!hasTerms)
    foldLanes<arith::MaxSIOp>(state, rows);
  Int zero = state.i32(0);
  Value negative =
      nvvm::voteAny(b, arith::OrIOp::create(b, rows[0].lessThan(zero),
                                            rows[1].lessThan(zero)));
  Values exact = emitIf(b, negative, {rows[0], rows[1]}, [&]() -> Values {
    std::array<Int, 2> least = foldRows<arith::MinUIOp>(state, bits);
    if (!hasTerms)
      foldLanes<arith::MinUIOp>(state, least);
    Values chosen;
    for (auto [row, magnitude] : llvm::zip(rows, least))
      chosen.push_back(
          arith::SelectOp::create(b, row.lessThan(zero), magnitude, row));
    return chosen;
  });
  Values maxima;
  for (auto [row, term] : llvm::zip(exact, scores.rowTerms)) {
    Value maximum = arith::BitcastOp::create(b, b.getF32Type(), row);
    maxima.push_back(term ? arith::AddFOp::create(b, maximum, term).getResult()
                          : maximum);
  }
  if (hasTerms)
    for (unsigned mask : {1, 2})
      for (Value &row : maxima)
        row = arith::MaxNumFOp::create(b, row, nvvm::shuffleXor(b, row, mask));
  return maxima;
}
