// The two products of a key block.
#include "lowering/sm80/Products.h"

#include "lowering/sm80/Layout.h"
#include "lowering/sm80/WideOperands.h"

using namespace mlir;
using namespace qm;
using namespace qm::sm80;

/// The lane for fragment addresses. Where registers are scarce it is read again
/// for each product: kept, every address would take a register through all.
static Int fragmentLane(KernelState &state) {
  if (state.plan.registersAreScarce())
    return readThread(state.b, /*again=*/true).lane;
  return state.thread.lane;
}

void QueryFragments::startBlock() {
  if (int64_t(resident.size()) ==
      state.plan.columnSteps() * state.plan.rowTiles)
    return;
  int rowBytes = state.plan.queryRowBytes();
  lane = state.shared +
         state.rowWarp(state.thread) * (state.plan.warpRows() * rowBytes) +
         rowMajorFragment(fragmentLane(state), rowBytes);
}

nvvm::Values QueryFragments::read(unsigned t, unsigned step) {
  if (state.plan.wide())
    return readWideLeft(state, lane, 16 * t * state.plan.queryRowBytes(),
                        state.plan.queryRowBytes(), step);
  ColumnStep column = columnStep(step, state.plan.queryRowBytes());
  int64_t row = 16 * t * state.plan.queryRowBytes();
  return nvvm::ldmatrixX4(state.b, lane, column.swizzle, row + column.bytes,
                          /*transposed=*/false);
}

void QueryFragments::load() {
  if (state.plan.residentQuerySteps == 0)
    return;
  startBlock();
  for (unsigned step = 0; step < state.plan.residentQuerySteps; ++step)
    for (unsigned t = 0; t < state.plan.rowTiles; ++t)
      resident.push_back(read(t, step));
}

nvvm::Values QueryFragments::operand(unsigned t, unsigned step) {
  if (step < state.plan.residentQuerySteps)
    return resident[step * state.plan.rowTiles + t];
  return read(t, step);
}

/// Fragments of a tile in the order a product uses them: `step` chooses the 16
/// columns, `rows` the 16 rows.
static nvvm::Values readFragment(KernelState &state, Int base,
                                 const SharedPlace &place, int rowBytes,
                                 unsigned rows, unsigned step,
                                 bool transposed) {
  ColumnStep column = columnStep(step, rowBytes);
  return nvvm::ldmatrixX4(
      state.b, base, column.swizzle,
      place.bytes + int64_t(rows) * 16 * rowBytes + column.bytes, transposed);
}

/// d = a b + c for 16 rows, 8 columns and a step of 16.
static nvvm::Values multiply(KernelState &state, ValueRange a,
                             ValueRange bFragment, ValueRange c) {
  if (state.plan.wide())
    return multiplyWide(state, a, bFragment, c);
  return state.machine.multiply(state.b, state.plan.element, a, bFragment, c);
}

/// Where the warp's part of a tile begins, counted from the tile.
static Int warpTile(KernelState &state, int rowBytes) {
  if (state.plan.keyWarps == 1)
    return state.shared;
  return state.shared + state.firstKeyOfWarp(state.thread) * rowBytes;
}

/// Between groups of mma: see Plan::groupsToFence.
static void fenceReads(KernelState &state, unsigned group, unsigned groups) {
  unsigned distance = state.plan.groupsToFence;
  if (distance && (group + 1) % distance == 0 && group + 1 < groups)
    nvvm::warpBarrier(state.b);
}

/// Reads the key fragments of a tile, group by group in the order of the
/// product.
static std::function<nvvm::Values(unsigned)> makeKeyReader(KernelState &state,
                                                           SharedPlace place) {
  int rowBytes = state.plan.queryRowBytes();
  unsigned keyTiles = state.plan.warpKeys() / 16;
  Int base = place.base(warpTile(state, rowBytes) +
                        columnMajorFragment(fragmentLane(state), rowBytes));
  return [=, &state](unsigned group) {
    unsigned rows = group % keyTiles, step = group / keyTiles;
    if (state.plan.wide())
      return readWideKeys(state, base,
                          place.bytes + int64_t(rows) * 16 * rowBytes, rowBytes,
                          step);
    return readFragment(state, base, place, rowBytes, rows, step,
                        /*transposed=*/false);
  };
}

static FirstFragments readFirst(KernelState &state, QueryFragments &query,
                                function_ref<nvvm::Values(unsigned)> readKey) {
  const Plan &plan = state.plan;
  FirstFragments first;
  for (unsigned t = 0; t < plan.rowTiles; ++t)
    first.query.push_back(query.operand(t, 0));
  for (unsigned g = 0; g < std::min(plan.fragmentsAhead, plan.groupsOf(0)); ++g)
    first.keys.push_back(readKey(g));
  return first;
}

SmallVector<nvvm::Values *> FirstFragments::all() {
  SmallVector<nvvm::Values *> fragments;
  for (SmallVector<nvvm::Values> *list : {&query, &keys})
    for (nvvm::Values &fragment : *list)
      fragments.push_back(&fragment);
  return fragments;
}

FirstFragments qm::sm80::readFirstFragments(KernelState &state,
                                            QueryFragments &query,
                                            const SharedPlace &keys) {
  query.startBlock();
  FirstFragments first = readFirst(state, query, makeKeyReader(state, keys));
  // A fence for ptxas, which else delays the reads until their use.
  nvvm::warpBarrier(state.b);
  return first;
}

Accumulator qm::sm80::emitScores(KernelState &state, QueryFragments &query,
                                 TileSupply::Visible &keys,
                                 std::optional<FirstFragments> first) {
  const Plan &plan = state.plan;
  unsigned rowTiles = plan.rowTiles, steps = plan.columnSteps(),
           keyTiles = plan.warpKeys() / 16, groups = steps * keyTiles;
  Accumulator scores(rowTiles, plan.warpKeys() / 8);
  query.startBlock();
  auto readKey = makeKeyReader(state, keys.place);
  if (!first)
    first = readFirst(state, query, readKey);
  SmallVector<nvvm::Values> key(first->keys), now(first->query), next(rowTiles);
  key.resize(groups);
  // A group: 16 keys at 16 columns.
  for (unsigned g = 0; g < groups; ++g) {
    unsigned step = g / keyTiles, tile = g % keyTiles;
    if (g + plan.fragmentsAhead < groups)
      key[g + plan.fragmentsAhead] = readKey(g + plan.fragmentsAhead);
    // The next step's query fragments are spread over this step's groups.
    for (unsigned t = 0; t < rowTiles; ++t)
      if (step + 1 < steps && t * keyTiles / rowTiles == tile)
        next[t] = query.operand(t, step + 1);
    for (unsigned half = 0; half < 2; ++half)
      for (unsigned t = 0; t < rowTiles; ++t) {
        auto sum = scores.group(t, 2 * tile + half);
        auto pair =
            ArrayRef(key[g]).slice(plan.rightWords() * half, plan.rightWords());
        nvvm::Values result =
            multiply(state, now[t], ValueRange(pair),
                     step == 0 ? ValueRange() : ValueRange(sum));
        llvm::copy(result, sum.begin());
      }
    if (tile + 1 == keyTiles)
      std::swap(now, next);
    keys.hook(g);
    fenceReads(state, g, groups);
  }
  return scores;
}

LogicalResult qm::sm80::emitAccumulate(KernelState &state,
                                       TileSupply::Visible &values,
                                       function_ref<Packed *()> probabilities,
                                       Accumulator &accumulator) {
  const Plan &plan = state.plan;
  unsigned steps = plan.warpKeys() / 16, columnTiles = plan.columnTiles(),
           groups = steps * columnTiles;
  Int lane = fragmentLane(state);
  Int base = values.place.base(
      warpTile(state, plan.valueRowBytes()) +
      (plan.wide() ? wideValueElement(lane, plan.valueRowBytes())
                   : rowMajorFragment(lane, plan.valueRowBytes())));
  auto readValue = [&](unsigned g) {
    if (plan.wide())
      return readWideValues(state, base,
                            values.place.bytes + int64_t(g / columnTiles) * 16 *
                                                     plan.valueRowBytes(),
                            plan.valueRowBytes(), g % columnTiles);
    return readFragment(state, base, values.place, plan.valueRowBytes(),
                        g / columnTiles, g % columnTiles, /*transposed=*/true);
  };
  SmallVector<nvvm::Values> value(groups);
  for (unsigned g = 0; g < std::min(plan.fragmentsAhead, groups); ++g)
    value[g] = readValue(g);
  Packed *p = probabilities();
  if (!p)
    return failure();
  // A group: 16 keys times 16 columns.
  for (unsigned g = 0; g < groups; ++g) {
    unsigned step = g / columnTiles, tile = g % columnTiles;
    if (g + plan.fragmentsAhead < groups)
      value[g + plan.fragmentsAhead] = readValue(g + plan.fragmentsAhead);
    // The last 16 columns may be 8 and zeros.
    unsigned halves = 2 * tile + 1 < accumulator.groups ? 2 : 1;
    for (unsigned half = 0; half < halves; ++half)
      for (unsigned t = 0; t < plan.rowTiles; ++t) {
        auto sum = accumulator.group(t, 2 * tile + half);
        auto pair = ArrayRef(value[g]).slice(plan.rightWords() * half,
                                             plan.rightWords());
        nvvm::Values result = multiply(state, p->operand(t, step),
                                       ValueRange(pair), ValueRange(sum));
        llvm::copy(result, sum.begin());
      }
    values.hook(g);
    fenceReads(state, g, groups);
  }
  return success();
}
