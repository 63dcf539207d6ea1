// Query tiles longest first, in sections of heads.
#include "lowering/gpu/TileSections.h"

using namespace qm;
using namespace qm::gpu;

DensePlace qm::gpu::placeInSections(Int index, Int tiles, Int sequences,
                                    Int fitting) {
  // Sections of equal size: a small last one would leave multiprocessors idle
  // behind its longest tiles.
  Int sections = (sequences + fitting - 1) / fitting;
  Int perSection = (sequences + sections - 1) / sections;
  Int tilesPerSection = perSection * tiles;
  Int section = index / tilesPerSection;
  Int rest = index - section * tilesPerSection;
  Int first = section * perSection;
  Int inSection = perSection.min(sequences - first);
  Int turn = rest / inSection;
  Int tile = tiles - 1 - turn;
  return {first + rest - turn * inSection, tile};
}
