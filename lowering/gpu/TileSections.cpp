// Query tiles longest first, in sections of heads.
#include "lowering/gpu/TileSections.h"

#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace qm;
using namespace qm::gpu;

/// Of a sequence's tiles one in so many, those of its first rows, comes after
/// all sections.
static constexpr int64_t lastPart = 16;

bool qm::gpu::leavesKeysBehind(attn::KeyBlocksOp loop) {
  if (loop.getBounds().empty())
    return false;
  Value first = loop.getBounds().front().getTerminator()->getOperand(0);
  return !matchPattern(first, m_Constant());
}

DensePlace qm::gpu::placeInSections(LocBuilder &b, Int index, Int tiles,
                                    Int sequences, Int fitting,
                                    bool firstRowsLast) {
  // Sections of equal size: a small last one would leave multiprocessors idle
  // behind its longest tiles.
  Int sections = (sequences + fitting - 1) / fitting;
  Int perSection = (sequences + sections - 1) / sections;
  Int lastTiles = firstRowsLast ? tiles / lastPart : Int::constant(b, 0);
  Int sectionTiles = firstRowsLast ? tiles - lastTiles : tiles;
  Int tilesPerSection = perSection * sectionTiles;
  Int section = index / tilesPerSection;
  Int first = section * perSection, before = section * tilesPerSection;
  Int inSection = perSection.min(sequences - first), tilesHere = tiles;
  if (firstRowsLast) {
    Int ofSections = sectionTiles * sequences;
    Value last = ofSections.atMost(index);
    auto inLast = [&](Int yes, Int no) {
      return Int(b, arith::SelectOp::create(b, last, yes, no));
    };
    first = inLast(Int::constant(b, 0), first);
    before = inLast(ofSections, before);
    inSection = inLast(sequences, inSection);
    tilesHere = inLast(lastTiles, tiles);
  }
  Int rest = index - before;
  Int turn = rest / inSection;
  return {first + rest - turn * inSection, tilesHere - 1 - turn};
}
