// Thread and tile coordinates, and control flow.
#include "lowering/sm80/KernelState.h"

using namespace mlir;
using namespace qm;
using namespace qm::sm80;

/// Keys and values of the heads whose tiles run together should stay in L2 (40
/// MB on an A100, less on smaller chips).
static constexpr int64_t sectionKilobytes = 32 << 10;

Thread qm::sm80::readThread(LocBuilder &b, bool again) {
  Int index(b, nvvm::readSpecial(b, nvvm::Special::ThreadX, again));
  if (again)
    return {index, index % 32, index / 32};
  return {index, index % 32, {b, nvvm::broadcastLane0(b, index / 32)}};
}

TilePosition qm::sm80::readTilePosition(LocBuilder &b, const Plan &plan,
                                        Arguments &arguments, bool longestFirst,
                                        bool again) {
  Int cta(b, nvvm::readSpecial(b, nvvm::Special::BlockX, again));
  Int heads = arguments.extentOfCall(attn::Extent::Heads);
  Int tiles = (arguments.extentOfCall(attn::Extent::Query) + (plan.tileM - 1)) /
              plan.tileM;
  Int sequence, tile; // sequence: batch * heads + head
  if (!longestFirst) {
    sequence = cta / tiles;
    tile = cta - sequence * tiles;
  } else {
    // Longest first inside sections of heads whose keys and values fit the L2
    // cache together.
    int64_t rowBytes = 2 * (plan.headDim + plan.valueDim);
    Int group = heads / arguments.extentOfCall(attn::Extent::KvHeads);
    Int kilobytes = (arguments.extentOfCall(attn::Extent::Key) / 16 *
                     (16 * rowBytes / 1024) / group)
                        .max(Int::constant(b, 1));
    Int sequences = heads * arguments.extentOfCall(attn::Extent::Batch);
    Int fitting = (Int::constant(b, sectionKilobytes) / kilobytes)
                      .max(Int::constant(b, 1));
    // Sections of equal size: a small last one would leave multiprocessors idle
    // behind its longest tiles.
    Int sections = (sequences + fitting - 1) / fitting;
    Int perSection = (sequences + sections - 1) / sections;
    Int tilesPerSection = perSection * tiles;
    Int section = cta / tilesPerSection;
    Int rest = cta - section * tilesPerSection;
    Int first = section * perSection;
    Int inSection = perSection.min(sequences - first);
    Int turn = rest / inSection;
    tile = tiles - 1 - turn;
    sequence = first + rest - turn * inSection;
  }
  Int batch = sequence / heads;
  return {batch, sequence - batch * heads, tile * plan.tileM};
}

SmallVector<Value> qm::sm80::emitIf(LocBuilder &b, Value condition,
                                    ValueRange otherwise,
                                    function_ref<SmallVector<Value>()> then) {
  auto op = scf::IfOp::create(b, otherwise.getTypes(), condition,
                              /*addThenBlock=*/true, /*addElseBlock=*/true);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(op.thenBlock());
  scf::YieldOp::create(b, then());
  b.setInsertionPointToStart(op.elseBlock());
  scf::YieldOp::create(b, otherwise);
  return SmallVector<Value>(op.getResults());
}
