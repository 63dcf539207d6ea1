// Row maxima by integers. The bits of floats that are not negative are ordered
// as integers are, and the maximum of three integers is one instruction where
// that of three floats is two. A row without a score that is not negative is
// seen by its sign: its maximum is the smallest magnitude, the unsigned minimum
// of the bits.
#include "lowering/sm90/RowMaxima.h"

using namespace mlir;
using namespace qm;
using namespace qm::sm90;

namespace {

/// Combines the bits of scores row by row.
class RowFold {
public:
  RowFold(KernelState &state, const BlockScores &scores)
      : state(state), scores(scores),
        hasTerms(scores.rowTerms[0] || scores.rowTerms[1]) {}

  /// Over the thread's part of a row where it has a term, which is that of the
  /// part because lanes start at other keys; else over all lanes.
  template <class Op>
  std::array<Int, 2> fold();
  /// Both rows' maxima from their folded bits.
  Values finish(const std::array<Int, 2> &rows);

private:
  KernelState &state;
  const BlockScores &scores;
  bool hasTerms;
};

} // namespace

template <class Op>
std::array<Int, 2> RowFold::fold() {
  LocBuilder &b = state.b;
  std::array<Int, 2> rows;
  for (auto [e, score] : llvm::enumerate(scores.elements.values)) {
    Int bits(b, arith::BitcastOp::create(b, b.getI32Type(), score));
    Int &row = rows[Fragment::rowOf(e)];
    row = row ? Int(b, Op::create(b, row, bits)) : bits;
  }
  if (!hasTerms)
    for (unsigned mask : {1, 2})
      for (Int &row : rows)
        row = {b, Op::create(b, row, nvvm::shuffleXor(b, row, mask))};
  return rows;
}

Values RowFold::finish(const std::array<Int, 2> &rows) {
  LocBuilder &b = state.b;
  Values maxima;
  for (auto [row, term] : llvm::zip(rows, scores.rowTerms)) {
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

QuickMaxima qm::sm90::quickRowMaxima(KernelState &state,
                                     const BlockScores &scores) {
  RowFold fold(state, scores);
  std::array<Int, 2> rows = fold.fold<arith::MaxSIOp>();
  Value uncertain = rows[0].min(rows[1]).lessThan(state.i32(0));
  return {fold.finish(rows), uncertain};
}

Values qm::sm90::exactRowMaxima(KernelState &state, const BlockScores &scores) {
  RowFold fold(state, scores);
  std::array<Int, 2> largest = fold.fold<arith::MaxSIOp>();
  std::array<Int, 2> smallest = fold.fold<arith::MinUIOp>();
  for (auto [row, magnitude] : llvm::zip(largest, smallest))
    row = {state.b, arith::SelectOp::create(state.b, row.lessThan(state.i32(0)),
                                            magnitude, row)};
  return fold.finish(largest);
}

Values qm::sm90::rowMaxima(KernelState &state, const BlockScores &scores) {
  QuickMaxima quick = quickRowMaxima(state, scores);
  return emitIf(state.b, nvvm::voteAny(state.b, quick.uncertain), quick.maxima,
                [&] { return exactRowMaxima(state, scores); });
}
