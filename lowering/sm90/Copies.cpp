// Tensor copies of tiles.
#include "lowering/sm90/Copies.h"

using namespace mlir;
using namespace qm;
using namespace qm::sm90;

void TileLoader::emit(Value leader, Cursor cursor, Int batch, Int head, Int row,
                      Int present) const {
  LocBuilder &b = state.b;
  ring.waitEmpty(cursor);
  // A box brings its whole size, zeros past the extents included.
  int64_t boxBytes = boxRows * panelRowBytes * panels(columns);
  int64_t boxes = rows / boxRows;
  if (boxes == 1 || !present)
    ring.expect(leader, cursor, boxes * boxBytes);
  else
    ring.expect(
        leader, cursor,
        (present.max(state.i32(1)).min(state.i32(rows)) + (boxRows - 1)) /
            boxRows * boxBytes);
  auto [barrier, barrierOffset] = ring.full(cursor);
  Int destination = state.shared + cursor.stage * bufferBytes;
  for (int64_t first = 0; first < rows; first += boxRows) {
    Value copies = leader;
    if (first && present)
      copies =
          arith::AndIOp::create(b, leader, state.i32(first).lessThan(present));
    for (int64_t panel = 0; panel < panels(columns); ++panel)
      nvvm::tensorLoad(
          b, copies, destination,
          buffer + (panel * rows + first) * panelRowBytes, map,
          {state.i32(panel * panelColumns), row + first, head, batch}, barrier,
          barrierOffset);
  }
}

Rings::Rings(KernelState &state)
    : query(state, state.plan.queryBarriers(), state.plan.queryBuffers,
            state.plan.consumers),
      key(state, state.plan.keyBarriers(), state.plan.stages,
          state.plan.consumers),
      value(state, state.plan.valueBarriers(), state.plan.stages,
            state.plan.consumers),
      loadQuery(state, query, state.queryMap, state.program.query,
                state.plan.tileM, state.plan.queryBoxRows, state.plan.headDim,
                state.plan.queryOffset(), state.plan.queryBufferBytes()),
      loadKeys(state, key, state.keyMap, state.program.keys, state.plan.tileN,
               state.plan.tileN, state.plan.headDim, state.plan.keyOffset(),
               state.plan.keyBytes()),
      loadValues(state, value, state.valueMap, state.program.values,
                 state.plan.tileN, state.plan.tileN, state.plan.valueDim,
                 state.plan.valueOffset(), state.plan.valueBytes()),
      state(state) {}

Int Rings::valueBuffer(Cursor cursor) const {
  return state.shared + state.plan.valueOffset() +
         cursor.stage * state.plan.valueBytes();
}

Int qm::sm90::queryRows(KernelState &state, Cursor query, Int consumer) {
  const Plan &plan = state.plan;
  return state.shared + plan.queryOffset() +
         query.stage * plan.queryBufferBytes() +
         consumer * (consumerRows * panelRowBytes);
}

void qm::sm90::clearRows(KernelState &state, PanelRows rows, Int first,
                         Int consumer) {
  LocBuilder &b = state.b;
  constexpr int64_t chunkBytes = 16, chunks = panelRowBytes / chunkBytes;
  Values zeros(4, state.i32(0));
  Int thread = state.thread.inGroup;
  Int column = thread % chunks * chunkBytes;
  // Whole rows: the swizzle only moves what is inside one.
  emitWhile(
      b, {first.max(state.i32(0)) + thread / chunks},
      [&](ValueRange v) -> Value { return Int(b, v[0]).lessThan(rows.count); },
      [&](ValueRange v) -> Values {
        Int row(b, v[0]);
        Int address = rows.address + row * panelRowBytes + column;
        for (int64_t panel = 0; panel < panels(rows.columns); ++panel)
          nvvm::storeShared128(b, /*predicate=*/{}, address,
                               panel * rows.panelBytes, zeros);
        return {row + warpgroupThreads / chunks};
      });
  nvvm::fenceAsyncProxy(b);
  syncConsumer(state, consumer);
}
