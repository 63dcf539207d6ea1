// Which rows a CTA has.
#include "lowering/sm80/TileOrder.h"

#include "lowering/nvvm/Turing.h"

#include "mlir/Dialect/Math/IR/Math.h"

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
  Int entries = Int::constant(b, 1), tiles;
  // Keys that the tiles of a head read at a time: those of a sequence.
  Int keys = arguments.extentOfCall(attn::Extent::Key);
  if (arguments.isPacked()) {
    Int count = arguments.extentOfCall(attn::Extent::Batch);
    tiles = queries / plan.tileM + count;
    keys = keys / count;
  } else {
    tiles = (queries + (plan.tileM - 1)) / plan.tileM;
    entries = arguments.extentOfCall(attn::Extent::Batch);
  }
  Int sequence, tile; // sequence: batch * heads + head
  // Heads of packed tokens lie side by side in memory: as many as fit the cache
  // run together, with a mask or not.
  if (!longestFirst && !arguments.isPacked()) {
    sequence = cta / tiles;
    tile = cta - sequence * tiles;
  } else {
    // Longest first inside sections of heads whose keys and values fit the L2
    // cache together.
    int64_t rowBytes = 2 * (plan.headDim + plan.valueDim);
    Int group = heads / arguments.extentOfCall(attn::Extent::KvHeads);
    Int kilobytes =
        (keys / 16 * (16 * rowBytes / 1024) / group).max(Int::constant(b, 1));
    Int sequences = heads * entries;
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
  return {batch, sequence - batch * heads, tile};
}

/// Element `index` of lengths or starts, at least `least` and at most `most`:
/// they are data, and wrong data must not lead out of a tensor.
static Int loadLength(LocBuilder &b, Arguments &arguments, Value lengths,
                      Int index, Int least, Int most) {
  return Int(b, arguments.loadClamped(lengths, ValueRange{index}))
      .min(most)
      .max(least);
}

/// The sequence of tile `tile` of a head, which becomes a tile of the sequence.
/// Sequence s has the numbers from floor(start / tileM) + s up to those of the
/// next: at least as many as it has tiles, and no table is needed to find them.
/// The lanes of a warp look at 128 sequences at a time.
static Int findPacked(LocBuilder &b, Arguments &arguments, Int lane, Int &tile,
                      int64_t tileM) {
  constexpr int64_t probes = 4; ///< of a lane, whose loads overlap
  Int zero = Int::constant(b, 0);
  Int rows = arguments.extentOfCall(attn::Extent::Query);
  Int count = arguments.extentOfCall(attn::Extent::Batch);
  auto firstTile = [&](Int sequence) {
    return loadLength(b, arguments, arguments.queryLengths(), sequence, zero,
                      rows) /
               tileM +
           sequence;
  };
  Type i32 = b.getI32Type();
  auto loop = scf::WhileOp::create(b, TypeRange{i32, i32},
                                   ValueRange{zero.get(), count.get()});
  {
    OpBuilder::InsertionGuard guard(b);
    SmallVector<Location> locations(2, b.getLoc());
    Block *before =
        b.createBlock(&loop.getBefore(), {}, TypeRange{i32, i32}, locations);
    Int size(b, before->getArgument(1));
    scf::ConditionOp::create(b, Int::constant(b, 1).lessThan(size),
                             before->getArguments());
    Block *after =
        b.createBlock(&loop.getAfter(), {}, TypeRange{i32, i32}, locations);
    Int first(b, after->getArgument(0));
    size = {b, after->getArgument(1)};
    Int step = (size + (probes * 32 - 1)) / (probes * 32);
    // How many begin early enough: those before are before all others.
    Int early = zero;
    for (int64_t probe = 0; probe < probes; ++probe) {
      Int offset = (lane + 32 * probe) * step;
      Value begins = arith::AndIOp::create(
          b, offset.lessThan(size), firstTile(first + offset).atMost(tile));
      early = early + Int(b, math::CtPopOp::create(b, nvvm::ballot(b, begins)));
    }
    Int last = (early - 1).max(zero); // the first one certainly does
    Int skipped = last * step;
    scf::YieldOp::create(
        b, ValueRange{(first + skipped).get(), step.min(size - skipped).get()});
  }
  Int number(b, loop.getResult(0));
  tile = tile - firstTile(number);
  return number;
}

/// First row and length of sequence `number` in `rows` rows.
static std::pair<Int, Int> readRows(LocBuilder &b, Arguments &arguments,
                                    Value lengths, Int number, Int rows) {
  Int zero = Int::constant(b, 0);
  Int first = loadLength(b, arguments, lengths, number, zero, rows);
  if (!arguments.isPacked())
    return {zero, first};
  Int end = loadLength(b, arguments, lengths, number + 1, first, rows);
  return {first, end - first};
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
    number = findPacked(b, arguments, lane, place.tile, plan.tileM);
  auto [firstQuery, queries] =
      readRows(b, arguments, arguments.queryLengths(), number,
               arguments.extentOfCall(attn::Extent::Query));
  auto [firstKey, keys] = readRows(b, arguments, arguments.keyLengths(), number,
                                   arguments.extentOfCall(attn::Extent::Key));
  arguments.enter({firstQuery, firstKey, queries, keys});
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
