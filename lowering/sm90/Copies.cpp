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
                 state.plan.valueOffset(), state.plan.valueBytes()) {}

Int qm::sm90::queryRows(KernelState &state, Cursor query, Int consumer) {
  const Plan &plan = state.plan;
  return state.shared + plan.queryOffset() +
         query.stage * plan.queryBufferBytes() +
         consumer * (consumerRows * panelRowBytes);
}
