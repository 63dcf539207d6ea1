// From the loop's results to global memory. Thread coordinates are those of
// `state`, which the emitter has read again: the first ones need not live
// through the loop.
#include "lowering/sm80/Epilogue.h"

#include "lowering/sm80/Layout.h"

#include <cmath>
#include <limits>

using namespace mlir;
using namespace qm;
using namespace qm::sm80;

Rows qm::sm80::normalize(KernelState &state, Accumulator &accumulator,
                         const SoftmaxStatistics &statistics) {
  LocBuilder &b = state.b;
  Value zero = state.f32(0.0f);
  Rows lse;
  SmallVector<Value> inverse;
  for (auto [max, part] :
       llvm::zip(statistics.max.values, statistics.sum.values)) {
    Value sum = part;
    for (unsigned mask : {1, 2})
      sum = arith::AddFOp::create(b, sum, nvvm::shuffleXor(b, sum, mask));
    Value empty =
        arith::CmpFOp::create(b, arith::CmpFPredicate::OEQ, sum, zero);
    inverse.push_back(
        arith::SelectOp::create(b, empty, zero, nvvm::rcpApprox(b, sum)));
    Value log2 = arith::SubFOp::create(b, nvvm::log2Approx(b, sum), max);
    Value ln = arith::MulFOp::create(b, log2, state.f32(float(M_LN2)));
    lse.values.push_back(arith::SelectOp::create(
        b, empty, state.f32(-std::numeric_limits<float>::infinity()), ln));
  }
  for (auto [e, value] : llvm::enumerate(accumulator.values))
    value = arith::MulFOp::create(b, value, inverse[accumulator.rowOf(e)]);
  return lse;
}

void qm::sm80::storeTile(KernelState &state, Accumulator &tile,
                         attn::StoreTileOp store) {
  LocBuilder &b = state.b;
  const Plan &plan = state.plan;
  Value tensor = store.getDestination();
  Type element = cast<RankedTensorType>(tensor.getType()).getElementType();
  int64_t rowBytes = plan.valueRowBytes();
  Int lane = state.thread.lane;
  Int warpBase =
      state.shared + state.rowWarp(state.thread) * (plan.warpRows() * rowBytes);

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
  Int firstRow = state.scalar(store.getRow()) +
                 state.rowWarp(state.thread) * plan.warpRows() + row;
  Int stride = state.arguments.stride(tensor, 2);
  Int global = state.arguments.elementAddress(
                   tensor, {state.scalar(store.getBatch()),
                            state.scalar(store.getHead()), firstRow}) +
               (chunk * chunkBytes).wide();
  Int rowsLeft = state.arguments.extent(tensor, 2) - firstRow;
  Value inRow;
  if (lanesPerRow > plan.valueDim / 8)
    inRow = chunk.lessThan(plan.valueDim / 8);
  for (int64_t i = 0; i < plan.warpRows(); i += rowsAtOnce) {
    Int inTile = row + i;
    nvvm::Values words = nvvm::loadShared128(
        b, warpBase + chunkOffset(inTile, chunk, int(rowBytes)), 0);
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
  Int extent = state.arguments.extent(tensor, 2);
  Value first = (state.thread.lane % 4).equals(0);
  for (auto [index, value] : llvm::enumerate(rows.values)) {
    Int row =
        state.scalar(store.getRow()) + state.rowOfTile(state.thread, index);
    Value writes = arith::AndIOp::create(b, first, row.lessThan(extent));
    emitIf(b, writes, {}, [&]() -> SmallVector<Value> {
      nvvm::storeGlobal(b,
                        state.arguments.elementAddress(
                            tensor, {state.scalar(store.getBatch()),
                                     state.scalar(store.getHead()), row}),
                        value);
      return {};
    });
  }
}
