// The two products of a key block.
#include "lowering/sm80/Products.h"

#include "lowering/sm80/Layout.h"

using namespace mlir;
using namespace qm;
using namespace qm::sm80;

/// Key and value fragments are read this many groups of mma (two for every row
/// tile) before their use.
static constexpr unsigned prefetch = 2;

/// The lane for fragment addresses. Where registers are scarce it is read again
/// for each product: kept, every address would take a register through all.
static Int fragmentLane(KernelState &state) {
  if (state.plan.registersAreScarce())
    return readThread(state.b, /*again=*/true).lane;
  return state.thread.lane;
}

void QueryFragments::startBlock() {
  if (!resident.empty())
    return;
  int rowBytes = 2 * state.plan.headDim;
  lane = state.shared + state.thread.warp * (state.plan.warpRows() * rowBytes) +
         rowMajorFragment(fragmentLane(state), rowBytes);
}

nvvm::Values QueryFragments::read(unsigned t, unsigned step) {
  ColumnStep column = columnStep(step);
  int64_t row = 16 * t * 2 * state.plan.headDim;
  return nvvm::ldmatrixX4(state.b, lane, column.swizzle, row + column.bytes,
                          /*transposed=*/false);
}

void QueryFragments::load() {
  if (!state.plan.queryInRegisters)
    return;
  startBlock();
  for (unsigned step = 0; step < state.plan.headDim / 16; ++step)
    for (unsigned t = 0; t < state.plan.rowTiles; ++t)
      resident.push_back(read(t, step));
}

nvvm::Values QueryFragments::operand(unsigned t, unsigned step) {
  if (!resident.empty())
    return resident[step * state.plan.rowTiles + t];
  return read(t, step);
}

/// Fragments of a tile in the order a product uses them: `step` chooses the 16
/// columns, `rows` the 16 rows.
static nvvm::Values readFragment(KernelState &state, Int base,
                                 const SharedPlace &place, int64_t columns,
                                 unsigned rows, unsigned step,
                                 bool transposed) {
  ColumnStep column = columnStep(step);
  return nvvm::ldmatrixX4(state.b, base, column.swizzle,
                          place.bytes + rows * 16 * 2 * columns + column.bytes,
                          transposed);
}

Accumulator qm::sm80::emitScores(KernelState &state, QueryFragments &query,
                                 TileRing::Visible &keys) {
  const Plan &plan = state.plan;
  unsigned rowTiles = plan.rowTiles, steps = plan.headDim / 16,
           keyTiles = plan.tileN / 16, groups = steps * keyTiles;
  Accumulator scores(rowTiles, plan.tileN / 8);
  query.startBlock();
  Int base = keys.place.base(
      state.shared +
      columnMajorFragment(fragmentLane(state), int(2 * plan.headDim)));
  auto readKey = [&](unsigned g) {
    return readFragment(state, base, keys.place, plan.headDim, g % keyTiles,
                        g / keyTiles, /*transposed=*/false);
  };
  SmallVector<nvvm::Values> key(groups);
  SmallVector<nvvm::Values> now(rowTiles), next(rowTiles);
  for (unsigned t = 0; t < rowTiles; ++t)
    now[t] = query.operand(t, 0);
  for (unsigned g = 0; g < std::min(prefetch, groups); ++g)
    key[g] = readKey(g);
  // A group: 16 keys at 16 columns.
  for (unsigned g = 0; g < groups; ++g) {
    unsigned step = g / keyTiles, tile = g % keyTiles;
    if (g + prefetch < groups)
      key[g + prefetch] = readKey(g + prefetch);
    // The next step's query fragments are spread over this step's groups.
    for (unsigned t = 0; t < rowTiles; ++t)
      if (step + 1 < steps && t * keyTiles / rowTiles == tile)
        next[t] = query.operand(t, step + 1);
    for (unsigned half = 0; half < 2; ++half)
      for (unsigned t = 0; t < rowTiles; ++t) {
        auto sum = scores.group(t, 2 * tile + half);
        auto pair = ArrayRef(key[g]).slice(2 * half, 2);
        nvvm::Values result =
            nvvm::mmaM16N8K16(state.b, plan.element, now[t], ValueRange(pair),
                              step == 0 ? ValueRange() : ValueRange(sum));
        llvm::copy(result, sum.begin());
      }
    if (tile + 1 == keyTiles)
      std::swap(now, next);
    keys.hook(g);
  }
  return scores;
}

LogicalResult qm::sm80::emitAccumulate(KernelState &state,
                                       TileRing::Visible &values,
                                       function_ref<Packed *()> probabilities,
                                       Accumulator &accumulator) {
  const Plan &plan = state.plan;
  unsigned steps = plan.tileN / 16, columnTiles = plan.valueDim / 16,
           groups = steps * columnTiles;
  Int base = values.place.base(
      state.shared +
      rowMajorFragment(fragmentLane(state), int(2 * plan.valueDim)));
  auto readValue = [&](unsigned g) {
    return readFragment(state, base, values.place, plan.valueDim,
                        g / columnTiles, g % columnTiles, /*transposed=*/true);
  };
  SmallVector<nvvm::Values> value(groups);
  for (unsigned g = 0; g < std::min(prefetch, groups); ++g)
    value[g] = readValue(g);
  Packed *p = probabilities();
  if (!p)
    return failure();
  // A group: 16 keys times 16 columns.
  for (unsigned g = 0; g < groups; ++g) {
    unsigned step = g / columnTiles, tile = g % columnTiles;
    if (g + prefetch < groups)
      value[g + prefetch] = readValue(g + prefetch);
    for (unsigned half = 0; half < 2; ++half)
      for (unsigned t = 0; t < plan.rowTiles; ++t) {
        auto sum = accumulator.group(t, 2 * tile + half);
        auto pair = ArrayRef(value[g]).slice(2 * half, 2);
        nvvm::Values result =
            nvvm::mmaM16N8K16(state.b, plan.element, p->operand(t, step),
                              ValueRange(pair), ValueRange(sum));
        llvm::copy(result, sum.begin());
      }
    values.hook(g);
  }
  return success();
}
