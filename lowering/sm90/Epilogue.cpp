// Output of a query tile.
#include "lowering/sm90/Epilogue.h"

#include "lowering/gpu/ElementRegion.h"

#include <cmath>
#include <limits>
#include <numbers>

using namespace mlir;
using namespace qm;
using namespace qm::sm90;

static constexpr int64_t chunkBytes = 16; ///< unit of the swizzle

/// Takes a sink (f32, natural units) into the sum of a row; what the
/// accumulator is to be multiplied by. `reference`, in log2 units, and `sum`
/// become relative to the larger of both.
static Value addSink(KernelState &state, Value sink, Value &reference,
                     Value &sum) {
  LocBuilder &b = state.b;
  Value logit =
      arith::MulFOp::create(b, sink, state.f32(std::numbers::log2e_v<float>));
  Value before = reference;
  Value larger = arith::MaxNumFOp::create(b, before, logit);
  // Neither a key nor a sink: exponents are -inf - 0, not NaN.
  Value none =
      arith::CmpFOp::create(b, arith::CmpFPredicate::OEQ, larger,
                            state.f32(-std::numeric_limits<float>::infinity()));
  reference = arith::SelectOp::create(b, none, state.f32(0.0f), larger);
  auto weight = [&](Value exponent) {
    return nvvm::exp2Approx(b, arith::SubFOp::create(b, exponent, reference));
  };
  Value alpha = weight(before);
  sum = arith::AddFOp::create(b, arith::MulFOp::create(b, sum, alpha),
                              weight(logit));
  return alpha;
}

static Value emitSinkLogit(KernelState &state, Tile &tile) {
  Region &region = state.program.normalize.getSink();
  if (region.empty())
    return {};
  constexpr unsigned none = ~0u;
  gpu::ElementRegion logit(region, {none, none}, state.arguments, tile.scalars,
                           nullptr);
  logit.emitUniform(state.b);
  return logit.emit(state.b, {}, 0, 0).front();
}

/// Adds up the lanes' sums; the inverse of each row's sum (0 for an empty row)
/// and its lse.
static std::pair<Values, Values>
addUpRows(KernelState &state, const Statistics &statistics, Value sink) {
  LocBuilder &b = state.b;
  Value zero = state.f32(0.0f);
  Values inverse, lse;
  for (auto [offset, part] : llvm::zip(statistics.offset, statistics.sum)) {
    Value sum = part;
    for (unsigned mask : {1, 2})
      sum = arith::AddFOp::create(b, sum, nvvm::shuffleXor(b, sum, mask));
    Value reference = arith::NegFOp::create(b, offset);
    Value alpha;
    if (sink)
      alpha = addSink(state, sink, reference, sum);
    Value empty =
        arith::CmpFOp::create(b, arith::CmpFPredicate::OEQ, sum, zero);
    Value factor = nvvm::rcpApprox(b, sum);
    if (alpha)
      factor = arith::MulFOp::create(b, factor, alpha);
    inverse.push_back(arith::SelectOp::create(b, empty, zero, factor));
    Value log2 = arith::AddFOp::create(b, reference, nvvm::log2Approx(b, sum));
    Value ln = arith::MulFOp::create(b, log2, state.f32(float(M_LN2)));
    lse.push_back(arith::SelectOp::create(
        b, empty, state.f32(-std::numeric_limits<float>::infinity()), ln));
  }
  return {inverse, lse};
}

static Int scalarOf(KernelState &state, Tile &tile, Value value) {
  return {state.b, tile.scalars.lookupOrDefault(value)};
}

/// Stores one f32 a row.
static void storeRows(KernelState &state, Tile &tile, attn::StoreTileOp store,
                      const Values &rows) {
  LocBuilder &b = state.b;
  Value tensor = store.getDestination();
  Int first = scalarOf(state, tile, store.getRow()) +
              (state.thread.warpgroup - 1) * consumerRows;
  for (auto [index, value] : llvm::enumerate(rows)) {
    Int row = first + rowInConsumer(state, index);
    Value writes =
        arith::AndIOp::create(b, (state.thread.lane % 4).equals(0),
                              row.lessThan(state.extent(attn::Extent::Query)));
    Value address = state.arguments.rowAddress(
        tensor, scalarOf(state, tile, store.getBatch()),
        scalarOf(state, tile, store.getHead()), row, /*ofKeys=*/false);
    nvvm::storeGlobalIf(b, writes, address, value);
  }
}

/// Writes the accumulator, times `inverse`, to the consumer's rows at `rows` as
/// 16-bit elements, swizzled as the tensor store expects it: chunk c of row r
/// lies at chunk c ^ (r % 8).
static void stageOutput(KernelState &state, Int rows, Fragment &accumulator,
                        const Values &inverse) {
  LocBuilder &b = state.b;
  const Plan &plan = state.plan;
  Int lane = state.thread.lane;
  // Lane i gives the row of matrix i / 8: rows 0-7 and 8-15 of 8 columns, then
  // of the next 8.
  Int row = state.thread.warp * 16 + lane % 16;
  Int base =
      rows + row * panelRowBytes + (((lane / 16) ^ (row % 8)) * chunkBytes);
  Values words;
  for (auto [e, value] : llvm::enumerate(accumulator.values))
    value = arith::MulFOp::create(b, value, inverse[Fragment::rowOf(e)]);
  for (unsigned e = 0; e < accumulator.values.size(); e += 2)
    words.push_back(nvvm::packPair(b, plan.element, accumulator.values[e],
                                   accumulator.values[e + 1]));
  for (int64_t column = 0; column < plan.valueDim; column += 16) {
    int64_t panel = column / panelColumns;
    unsigned swizzle = column % panelColumns / 8 * chunkBytes;
    unsigned count = column + 16 <= plan.valueDim ? 4 : 2;
    nvvm::stmatrix(b, base, swizzle, panel * plan.tileM * panelRowBytes,
                   ValueRange(words).slice(column / 4, count));
  }
}

Values qm::sm90::finishRows(KernelState &state, Tile &tile,
                            const Statistics &statistics) {
  tile.enter(state);
  auto [inverse, lse] =
      addUpRows(state, statistics, emitSinkLogit(state, tile));
  if (state.program.storeLse)
    storeRows(state, tile, state.program.storeLse, lse);
  if (state.program.storeMax) {
    Values natural;
    float factor = float(double(state.program.exponentFactor) * M_LN2);
    for (Value max : statistics.max)
      natural.push_back(arith::MulFOp::create(state.b, max, state.f32(factor)));
    storeRows(state, tile, state.program.storeMax, natural);
  }
  return inverse;
}

void qm::sm90::stageTile(KernelState &state, Cursor query,
                         Fragment &accumulator, const Values &inverse) {
  Int consumer = state.thread.warpgroup - 1;
  stageOutput(state, queryRows(state, query, consumer), accumulator, inverse);
}

void qm::sm90::announceTile(KernelState &state, Cursor query) {
  Staged(state).announce(state.thread.warpgroup - 1, query);
}

/// Stores a consumer's rows of `tile` from query buffer `query`; one thread.
static void storeStaged(KernelState &state, Rings &rings, Int consumer,
                        Tile &tile, Cursor query) {
  LocBuilder &b = state.b;
  const Plan &plan = state.plan;
  attn::StoreTileOp store = state.program.storeOutput;
  Int rows = queryRows(state, query, consumer);
  Int row = tile.queryRow(scalarOf(state, tile, store.getRow())) +
            consumer * consumerRows;
  Int entry = state.arguments.isPacked()
                  ? state.i32(0)
                  : scalarOf(state, tile, store.getBatch());
  for (int64_t panel = 0; panel < panels(plan.valueDim); ++panel)
    nvvm::tensorStore(b, state.boolean(true), state.outputMap,
                      {state.i32(panel * panelColumns), row,
                       scalarOf(state, tile, store.getHead()), entry},
                      rows, panel * plan.tileM * panelRowBytes);
  nvvm::bulkCommit(b);
  nvvm::bulkWaitRead(b);
  rings.query.release(state.boolean(true), query);
}

/// The same for a tile whose sequence ends among the consumer's rows, of which
/// it has `left`: a tensor store would write the next sequence's. All lanes, 16
/// bytes each.
static void storeRowByRow(KernelState &state, Rings &rings, Int consumer,
                          Tile &tile, Cursor query, Int left) {
  LocBuilder &b = state.b;
  const Plan &plan = state.plan;
  constexpr int64_t chunks = panelRowBytes / chunkBytes;
  attn::StoreTileOp store = state.program.storeOutput;
  Int staged = queryRows(state, query, consumer);
  Int lane = state.thread.lane, chunk = lane % chunks;
  Int first = scalarOf(state, tile, store.getRow()) + consumer * consumerRows;
  emitWhile(
      b, {lane / chunks},
      [&](ValueRange v) -> Value { return Int(b, v[0]).lessThan(left); },
      [&](ValueRange v) -> Values {
        Int row(b, v[0]);
        Int from = staged + row * panelRowBytes +
                   ((chunk ^ (row % chunks)) * chunkBytes);
        Int to =
            state.arguments.rowAddress(
                store.getDestination(), scalarOf(state, tile, store.getBatch()),
                scalarOf(state, tile, store.getHead()), first + row,
                /*ofKeys=*/false) +
            (chunk * chunkBytes).wide();
        for (int64_t panel = 0; panel < panels(plan.valueDim); ++panel) {
          Value exists = (chunk * (chunkBytes / 2) + panel * panelColumns)
                             .lessThan(plan.valueDim);
          nvvm::storeGlobal128(
              b, exists, to + panel * panelRowBytes,
              nvvm::loadShared128(b, from, panel * plan.tileM * panelRowBytes));
        }
        return {row + 32 / chunks};
      });
  nvvm::warpBarrier(b); // every lane has read
  emitIf(b, lane.equals(0),
         [&] { rings.query.release(state.boolean(true), query); });
}

void qm::sm90::emitStorer(KernelState &state, Rings &rings,
                          const TileQueue &queue) {
  LocBuilder &b = state.b;
  TileOrder order(state);
  Int consumer = state.thread.warp - 1;
  Value leader = state.thread.lane.equals(0);
  Cursor start = Cursor::start(state);
  Upcoming first = Upcoming::lookUp(state, order, order.first());
  Values inits{start.stage, start.round, start.stage, start.round};
  llvm::append_range(inits, first.flatten(state));
  // Order: place in the queue of the tile after it, query buffer, tile.
  emitWhile(
      b, inits,
      [&](ValueRange v) -> Value {
        return Upcoming::from(state, v.drop_front(4)).exists;
      },
      [&](ValueRange v) -> Values {
        Cursor place{{b, v[0]}, {b, v[1]}}, query{{b, v[2]}, {b, v[3]}};
        Upcoming current = Upcoming::from(state, v.drop_front(4));
        // At once if the queue has one entry: the tile after it is looked up
        // when everyone has taken it. With lengths there are not the registers.
        std::optional<Upcoming> following;
        if (state.plan.tileQueueSlots() == 1)
          following = queue.take(place, first);
        Tile tile(state, current.place);
        Staged(state).await(consumer, query);
        Value byTensorStore = leader;
        if (tile.sequence) {
          Int left = rowsLeft(tile, consumer);
          emitIf(b, left.lessThan(consumerRows), [&] {
            storeRowByRow(state, rings, consumer, tile, query, left);
          });
          byTensorStore = arith::AndIOp::create(
              b, leader, state.i32(consumerRows).atMost(left));
        }
        emitIf(b, byTensorStore,
               [&] { storeStaged(state, rings, consumer, tile, query); });
        if (!following)
          following = queue.take(place, first);
        place = queue.next(place);
        query = rings.query.next(query);
        Values next{place.stage, place.round, query.stage, query.round};
        llvm::append_range(next, following->flatten(state));
        return next;
      });
}
