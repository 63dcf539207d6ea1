// Values of keys that are padding.
#include "lowering/sm90/Padding.h"

#include "lowering/gpu/ElementRegion.h"

using namespace mlir;
using namespace qm;
using namespace qm::sm90;

/// A warp asks about 32 keys, one a lane, and clears their rows one after the
/// other: 8 bytes a lane are a row of 64 columns in two panels.
void qm::sm90::clearPadding(KernelState &state, Tile &tile, PanelRows rows,
                            Int firstKey, Int consumer) {
  constexpr int64_t lanes = 32, chunkBytes = 8;
  constexpr int64_t chunks = panelRowBytes / chunkBytes;
  constexpr int64_t keysAtOnce = warpgroupThreads;
  LocBuilder &b = state.b;
  tile.enter(state);
  constexpr unsigned none = ~0u;
  gpu::ElementRegion region(*state.program.paddingCondition,
                            gpu::ElementRegion::Roles{none, none},
                            state.arguments, tile.scalars, nullptr);
  region.emitUniform(b);
  Value zero = arith::ConstantIntOp::create(b, b.getI64Type(), 0);
  Int lane = state.thread.lane, warpRow = state.thread.warp * lanes;
  for (int64_t group = 0; group < rows.count; group += keysAtOnce) {
    Int firstRow = warpRow + group;
    region.startBlock();
    Value isUsed = region.emit(b, {firstKey + firstRow + lane}, 0, 0).front();
    Value exists = (firstRow + lane).lessThan(rows.count);
    Value isPadding = arith::AndIOp::create(
        b, exists, arith::XOrIOp::create(b, isUsed, state.boolean(true)));
    // Half the lanes have one of two panels; whole rows, so that the swizzle
    // does not matter.
    Int panel = lane / chunks;
    Int start = rows.address + lane % chunks * chunkBytes +
                panel * rows.panelBytes + firstRow * panelRowBytes;
    emitWhile(
        b, {nvvm::ballot(b, isPadding)},
        [&](ValueRange v) -> Value {
          return arith::CmpIOp::create(b, arith::CmpIPredicate::ne, v[0],
                                       state.i32(0));
        },
        [&](ValueRange v) -> Values {
          Int left(b, v[0]);
          Int row(b, math::CountTrailingZerosOp::create(b, left));
          Int address = start + row * panelRowBytes;
          for (int64_t first = 0; first < panels(rows.columns); first += 2) {
            auto store = [&] {
              nvvm::storeShared64(b, address, first * rows.panelBytes, zero);
            };
            if (first + 1 < panels(rows.columns))
              store();
            else
              emitIf(b, panel.equals(0), store);
          }
          return {left & (left - 1)};
        });
  }
  nvvm::fenceAsyncProxy(b);
  syncConsumer(state, consumer);
}
