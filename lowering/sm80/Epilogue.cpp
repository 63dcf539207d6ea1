// From the loop's results to global memory. Thread coordinates are those of
// `state`, which the emitter has read again: the first ones need not live
// through the loop.
#include "lowering/sm80/Epilogue.h"

#include "lowering/sm80/Layout.h"

#include <cmath>
#include <limits>
#include <numbers>

using namespace mlir;
using namespace qm;
using namespace qm::sm80;

/// Takes a sink into the sum of a row; what the accumulator is to be multiplied
/// by. `negativeMax` and `sum` become relative to the larger of both.
static Value addSink(KernelState &state, Value sink, Value &negativeMax,
                     Value &sum) {
  LocBuilder &b = state.b;
  Value logit =
      arith::MulFOp::create(b, sink, state.f32(std::numbers::log2e_v<float>));
  Value before = negativeMax;
  negativeMax =
      arith::MinNumFOp::create(b, before, arith::NegFOp::create(b, logit));
  Value alpha =
      nvvm::exp2Approx(b, arith::SubFOp::create(b, negativeMax, before));
  Value own = nvvm::exp2Approx(b, arith::AddFOp::create(b, logit, negativeMax));
  sum = arith::AddFOp::create(b, arith::MulFOp::create(b, sum, alpha), own);
  return alpha;
}

Rows qm::sm80::naturalMax(KernelState &state,
                          const SoftmaxStatistics &statistics) {
  LocBuilder &b = state.b;
  Rows rows;
  for (Value negativeMax : statistics.max.values) {
    Value none = arith::CmpFOp::create(b, arith::CmpFPredicate::OEQ,
                                       negativeMax, state.f32(unseen));
    Value max = arith::MulFOp::create(b, negativeMax, state.f32(-float(M_LN2)));
    rows.values.push_back(arith::SelectOp::create(
        b, none, state.f32(-std::numeric_limits<float>::infinity()), max));
  }
  return rows;
}

Rows qm::sm80::normalize(KernelState &state, Accumulator &accumulator,
                         const SoftmaxStatistics &statistics, Value sink) {
  LocBuilder &b = state.b;
  Value zero = state.f32(0.0f);
  Rows lse;
  SmallVector<Value> inverse;
  for (auto [max, part] :
       llvm::zip(statistics.max.values, statistics.sum.values)) {
    Value sum = part;
    for (unsigned mask : {1, 2})
      sum = arith::AddFOp::create(b, sum, nvvm::shuffleXor(b, sum, mask));
    Value reference = max, alpha;
    if (sink)
      alpha = addSink(state, sink, reference, sum);
    Value empty =
        arith::CmpFOp::create(b, arith::CmpFPredicate::OEQ, sum, zero);
    Value factor = nvvm::rcpApprox(b, sum);
    if (alpha)
      factor = arith::MulFOp::create(b, factor, alpha);
    inverse.push_back(arith::SelectOp::create(b, empty, zero, factor));
    Value log2 = arith::SubFOp::create(b, nvvm::log2Approx(b, sum), reference);
    Value ln = arith::MulFOp::create(b, log2, state.f32(float(M_LN2)));
    lse.values.push_back(arith::SelectOp::create(
        b, empty, state.f32(-std::numeric_limits<float>::infinity()), ln));
  }
  for (auto [e, value] : llvm::enumerate(accumulator.values))
    value = arith::MulFOp::create(b, value, inverse[accumulator.rowOf(e)]);
  return lse;
}

/// f32 goes straight to global memory: the four lanes of a row write 32 bytes
/// side by side.
static void storeWideTile(KernelState &state, Accumulator &tile,
                          attn::StoreTileOp store) {
  LocBuilder &b = state.b;
  constexpr int64_t pairBytes = 8, groupBytes = 32;
  Int rows = state.arguments.extentOfCall(attn::Extent::Query);
  Int inRow = (state.thread.lane % 4 * pairBytes).wide();
  for (unsigned t = 0; t < tile.rowTiles; ++t)
    for (unsigned half = 0; half < 2; ++half) {
      Int row = state.scalar(store.getRow()) +
                state.rowOfTile(state.thread, 2 * t + half);
      Int global = state.rowAddress(store.getDestination(), store.getBatch(),
                                    store.getHead(), row) +
                   inRow;
      Value exists = row.lessThan(rows);
      for (unsigned group = 0; group < tile.groups; ++group)
        nvvm::storeGlobal2xF32(b, exists, global, group * groupBytes,
                               tile.at(t, group, 2 * half),
                               tile.at(t, group, 2 * half + 1));
    }
}

void qm::sm80::storeTile(KernelState &state, Accumulator &tile,
                         attn::StoreTileOp store) {
  LocBuilder &b = state.b;
  const Plan &plan = state.plan;
  Value tensor = store.getDestination();
  Type element = cast<RankedTensorType>(tensor.getType()).getElementType();
  if (element.isF32())
    return storeWideTile(state, tile, store);
  int64_t rowBytes = plan.valueRowBytes();
  Int lane = state.thread.lane;
  Int firstOfWarp = state.firstRowOfWarp(state.thread);
  Int warpBase = state.shared + firstOfWarp * rowBytes;

  Int pair = warpBase + accumulatorPair(lane, int(rowBytes));
  for (unsigned group = 0; group < tile.groups; ++group) {
    ColumnStep step = groupStep(group, rowBytes);
    Int column = step.swizzle ? pair ^ int64_t(step.swizzle) : pair;
    for (unsigned t = 0; t < tile.rowTiles; ++t)
      for (unsigned half = 0; half < 2; ++half)
        nvvm::storeShared32(
            b, column, (16 * t + 8 * half) * rowBytes + step.bytes,
            state.machine.packPair(b, element, tile.at(t, group, 2 * half),
                                   tile.at(t, group, 2 * half + 1)));
  }
  nvvm::warpBarrier(b);

  // A warp reads whole rows, 16 bytes a lane.
  int64_t lanesPerRow = outputLanes(plan.valueDim),
          rowsAtOnce = 32 / lanesPerRow;
  Int row = lane / lanesPerRow, chunk = lane % lanesPerRow;
  Int firstRow = state.scalar(store.getRow()) + firstOfWarp + row;
  Int stride = state.arguments.stride(tensor, 2);
  Int global =
      state.rowAddress(tensor, store.getBatch(), store.getHead(), firstRow) +
      (chunk * chunkBytes).wide();
  Int rowsLeft = state.arguments.extentOfCall(attn::Extent::Query) - firstRow;
  // Lanes past the row read its first chunk, so that no warp looks at the rows
  // of another.
  Value inRow;
  Int chunkToRead = chunk;
  if (lanesPerRow > plan.valueDim / 8) {
    inRow = chunk.lessThan(plan.valueDim / 8);
    chunkToRead = {
        b, arith::SelectOp::create(b, inRow, chunk, Int::constant(b, 0))};
  }
  for (int64_t i = 0; i < state.heldRows(); i += rowsAtOnce) {
    Int inTile = row + i;
    nvvm::Values words = nvvm::loadShared128(
        b, warpBase + chunkOffset(inTile, chunkToRead, int(rowBytes)), 0);
    Value writes = Int::constant(b, i).lessThan(rowsLeft);
    if (inRow)
      writes = arith::AndIOp::create(b, writes, inRow);
    nvvm::storeGlobal128(b, writes, global, words);
    global = {b, nvvm::opaqueMulAdd(b, stride, 2 * rowsAtOnce, global)};
  }
}

void qm::sm80::storeRows(KernelState &state, const Rows &rows,
                         attn::StoreTileOp store) {
  LocBuilder &b = state.b;
  Value tensor = store.getDestination();
  Int extent = state.arguments.extentOfCall(attn::Extent::Query);
  Value first = (state.thread.lane % 4).equals(0);
  for (auto [index, value] : llvm::enumerate(rows.values)) {
    Int row =
        state.scalar(store.getRow()) + state.rowOfTile(state.thread, index);
    Value writes = arith::AndIOp::create(b, first, row.lessThan(extent));
    emitIf(b, writes, {}, [&]() -> SmallVector<Value> {
      nvvm::storeGlobal(
          b, state.rowAddress(tensor, store.getBatch(), store.getHead(), row),
          value);
      return {};
    });
  }
}
