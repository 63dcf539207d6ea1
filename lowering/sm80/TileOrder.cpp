// Which rows a CTA has.
#include "lowering/sm80/TileOrder.h"

#include "lowering/gpu/Sequences.h"
#include "lowering/gpu/TileSections.h"

using namespace mlir;
using namespace qm;
using namespace qm::sm80;

/// Keys and values of the heads whose tiles run together should stay in L2 (40
/// MB on an A100, less on smaller chips).
static constexpr int64_t sectionKilobytes = 32 << 10;

/// A head of a batch entry, and a tile among those of its rows.
struct Place {
  Int batch, head, tile;
};

static Place readPlace(LocBuilder &b, const Plan &plan, Arguments &arguments,
                       bool longestFirst, bool again) {
  Int cta(b, nvvm::readSpecial(b, nvvm::Special::BlockX, again));
  Int heads = arguments.extentOfCall(attn::Extent::Heads);
  Int queries = arguments.extentOfCall(attn::Extent::Query);
  if (arguments.isPacked()) {
    PackedPlace place =
        placePacked(b, arguments, cta, plan.tileM,
                    2 * (plan.headDim + plan.valueDim), longestFirst);
    return {Int::constant(b, 0), place.head, place.tile};
  }
  Int tiles = (queries + (plan.tileM - 1)) / plan.tileM;
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
    DensePlace place = placeInSections(b, cta, tiles, sequences, fitting,
                                       /*firstRowsLast=*/false);
    sequence = place.sequence;
    tile = place.tile;
  }
  Int batch = sequence / heads;
  return {batch, sequence - batch * heads, tile};
}

/// The position of a CTA from its number, and the sequence, which is entered.
static TilePosition findTile(LocBuilder &b, const Plan &plan,
                             Arguments &arguments, Int lane, bool longestFirst,
                             bool again) {
  arguments.leave();
  Place place = readPlace(b, plan, arguments, longestFirst, again);
  if (!plan.hasLengths)
    return {place.batch, place.head, place.tile * plan.tileM};
  Int number = place.batch;
  if (arguments.isPacked())
    number = findSequence(b, arguments, lane, place.tile, plan.tileM);
  arguments.enter(readSequence(b, arguments, number));
  return {number, place.head, place.tile * plan.tileM};
}

TilePosition qm::sm80::readTilePosition(LocBuilder &b, const Plan &plan,
                                        Arguments &arguments,
                                        const Thread &thread, Int shared,
                                        bool longestFirst) {
  TilePosition tile = findTile(b, plan, arguments, thread.lane, longestFirst,
                               /*again=*/false);
  const Sequence *sequence = arguments.getSequence();
  if (!sequence)
    return tile;
  nvvm::exitIf(b, sequence->queries.atMost(tile.row));
  if (!plan.keepsPosition)
    return tile;
  // Every thread writes the same, so each may read it at once.
  nvvm::storeShared128(b, {}, shared, plan.positionOffset(),
                       {tile.batch, tile.head, tile.row, sequence->firstQuery});
  nvvm::storeShared128(
      b, {}, shared, plan.positionOffset() + 16,
      {sequence->firstKey, sequence->queries, sequence->keys, sequence->keys});
  return tile;
}

TilePosition qm::sm80::readTilePositionAgain(KernelState &state,
                                             bool longestFirst) {
  LocBuilder &b = state.b;
  if (!state.plan.keepsPosition)
    return findTile(b, state.plan, state.arguments, state.thread.lane,
                    longestFirst, /*again=*/true);
  nvvm::Values words;
  for (int64_t offset : {0, 16})
    llvm::append_range(
        words, nvvm::loadShared128(b, state.shared,
                                   state.plan.positionOffset() + offset));
  auto word = [&](unsigned index) { return Int(b, words[index]); };
  state.arguments.enter({word(3), word(4), word(5), word(6)});
  return {word(0), word(1), word(2)};
}
