//===- CountBlocks.cpp - what a mask keeps, pair by pair ------------------===//
#include "lowering/reference/ParallelRows.h"
#include "lowering/reference/Reference.h"

#include <memory>
#include <mutex>

using namespace qm::reference;

MaskCounts Reference::countBlocks(llvm::ArrayRef<Argument> arguments,
                                  int64_t tileM, int64_t tileN,
                                  unsigned threads) const {
  Extents extents = extentsOf(arguments);
  int64_t rowTiles = (extents.query + tileM - 1) / tileM;
  int64_t keyBlocks = (extents.key + tileN - 1) / tileN;
  MaskCounts total;
  if (!mask || extents.key == 0) {
    int64_t planes = extents.batch * extents.heads;
    total.fullBlocks = planes * rowTiles * keyBlocks;
    total.keptPairs = planes * extents.query * extents.key;
    total.emptyRows = extents.key == 0 ? planes * extents.query : 0;
    return total;
  }
  // A mask that ignores the batch or the head is counted once and multiplied.
  int64_t batches = mask->usesBatch ? extents.batch : 1;
  int64_t heads = mask->usesHead ? extents.heads : 1;
  int64_t factor =
      extents.batch * extents.heads / std::max<int64_t>(batches * heads, 1);

  std::mutex mutex;
  parallelFor(batches * heads * rowTiles, threads, [&] {
    auto evaluator =
        std::make_shared<RegionEvaluator<float>>(*mask, arguments, extents);
    return [&, evaluator](int64_t item) {
      int64_t tile = item % rowTiles;
      int64_t h = item / rowTiles % heads, b = item / rowTiles / heads;
      int64_t lastRow = std::min(extents.query, (tile + 1) * tileM);
      int64_t rows = lastRow - tile * tileM;
      std::vector<int64_t> kept(keyBlocks);
      MaskCounts counts;
      for (int64_t i = tile * tileM; i < lastRow; ++i) {
        evaluator->setRow(b, h, i);
        int64_t keptInRow = 0;
        constexpr int lanes = RegionEvaluator<float>::lanes;
        bool keep[lanes];
        for (int64_t first = 0; first < extents.key; first += lanes) {
          int count =
              static_cast<int>(std::min<int64_t>(lanes, extents.key - first));
          evaluator->mask(first, count, keep);
          for (int lane = 0; lane < count; ++lane) {
            keptInRow += keep[lane];
            kept[(first + lane) / tileN] += keep[lane];
          }
        }
        counts.keptPairs += keptInRow;
        counts.emptyRows += keptInRow == 0;
      }
      for (int64_t block = 0; block < keyBlocks; ++block) {
        int64_t keys = std::min(tileN, extents.key - block * tileN);
        counts.emptyBlocks += kept[block] == 0;
        counts.fullBlocks += kept[block] == rows * keys;
        counts.partialBlocks += kept[block] != 0 && kept[block] != rows * keys;
      }
      std::lock_guard lock(mutex);
      total.fullBlocks += factor * counts.fullBlocks;
      total.partialBlocks += factor * counts.partialBlocks;
      total.emptyBlocks += factor * counts.emptyBlocks;
      total.keptPairs += factor * counts.keptPairs;
      total.emptyRows += factor * counts.emptyRows;
    };
  });
  return total;
}
