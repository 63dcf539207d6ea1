// Tensor copies of tiles.
#include "lowering/sm90/Copies.h"

using namespace mlir;
using namespace qm;
using namespace qm::sm90;

void TileLoader::emit(Value leader, Cursor cursor, Int batch, Int head,
                      Int row) const {
  LocBuilder &b = state.b;
  ring.waitEmpty(cursor);
  // A box brings its whole size, zeros past the extents included.
  ring.expect(leader, cursor, rows * panelRowBytes * panels(columns));
  auto [barrier, barrierOffset] = ring.full(cursor);
  Int destination = state.shared + cursor.stage * bufferBytes;
  for (int64_t panel = 0; panel < panels(columns); ++panel)
    nvvm::tensorLoad(b, leader, destination,
                     buffer + panel * rows * panelRowBytes, map,
                     {state.i32(panel * panelColumns), row, head, batch},
                     barrier, barrierOffset);
}

Rings::Rings(KernelState &state)
    : query(state, state.plan.queryBarriers(), state.plan.queryBuffers,
            state.plan.consumers),
      key(state, state.plan.keyBarriers(), state.plan.stages,
          state.plan.consumers),
      value(state, state.plan.valueBarriers(), state.plan.stages,
            state.plan.consumers),
      loadQuery(state, query, state.queryMap, state.program.query,
                state.plan.tileM, state.plan.headDim, state.plan.queryOffset(),
                state.plan.queryBufferBytes()),
      loadKeys(state, key, state.keyMap, state.program.keys, state.plan.tileN,
               state.plan.headDim, state.plan.keyOffset(),
               state.plan.keyBytes()),
      loadValues(state, value, state.valueMap, state.program.values,
                 state.plan.tileN, state.plan.valueDim,
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
  constexpr int64_t chunkBytes = 8, chunks = panelRowBytes / chunkBytes;
  Value zero = arith::ConstantIntOp::create(b, b.getI64Type(), 0);
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
          nvvm::storeShared64(b, address, panel * rows.panelBytes, zero);
        return {row + warpgroupThreads / chunks};
      });
  nvvm::fenceAsyncProxy(b);
  syncConsumer(state, consumer);
}
