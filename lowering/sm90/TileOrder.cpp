// Order of query tiles.
#include "lowering/sm90/TileOrder.h"

using namespace mlir;
using namespace qm;
using namespace qm::sm90;
using attn::Extent;

/// Keys and values of a section should stay in L2 (50 MB on an H100) beside what else passes through.
static constexpr int64_t sectionKilobytes = 32 << 10;

TileOrder::TileOrder(KernelState &state) : state(state) {}

Int TileOrder::tilesOfHead() {
  return (state.extent(Extent::Query) + (state.plan.tileM - 1)) /
         state.plan.tileM;
}

TileOrder::Place TileOrder::first() {
  return {Int(state.b, nvvm::readSpecial(state.b, nvvm::Special::BlockX)),
          Int(state.b, nvvm::gridSize(state.b))};
}

TileOrder::Place TileOrder::next(Place place) {
  Int grid(state.b, nvvm::gridSize(state.b));
  Int index = state.program.longestFirst()
                  ? place.edge + place.edge - 1 - place.index
                  : place.index + grid;
  return {index, place.edge + grid};
}

Value TileOrder::exists(Place place) {
  Int tiles = tilesOfHead() * state.extent(Extent::Heads) *
              state.extent(Extent::Batch);
  return place.index.lessThan(tiles);
}

Tile TileOrder::tile(Place place) {
  Int heads = state.extent(Extent::Heads), tiles = tilesOfHead();
  Int sequence, tile; // sequence: batch * heads + head
  if (!state.program.longestFirst()) {
    sequence = place.index / tiles;
    tile = place.index - sequence * tiles;
  } else {
    int64_t rowBytes = 2 * (state.plan.headDim + state.plan.valueDim);
    Int group = heads / state.extent(Extent::KvHeads);
    Int kilobytes = (state.extent(Extent::Key) / 64 + 1) *
                        (64 * rowBytes / 1024) / group +
                    1;
    Int sequences = heads * state.extent(Extent::Batch);
    Int perSection = (state.i32(sectionKilobytes) / kilobytes)
                         .max(state.i32(1))
                         .min(sequences);
    Int tilesPerSection = perSection * tiles;
    Int section = place.index / tilesPerSection;
    Int rest = place.index - section * tilesPerSection;
    Int first = section * perSection;
    Int inSection = perSection.min(sequences - first);
    Int turn = rest / inSection;
    tile = tiles - 1 - turn;
    sequence = first + rest - turn * inSection;
  }
  Int batch = sequence / heads;
  return Tile(state, batch, sequence - batch * heads, tile * state.plan.tileM);
}
