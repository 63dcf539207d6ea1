//===- CountBlocks.cpp - what a mask keeps, pair by pair ------------------===//
#include "lowering/reference/ParallelRows.h"
#include "lowering/reference/Reference.h"

#include <memory>
#include <mutex>

using namespace qm::reference;

MaskCounts Reference::countBlocks(llvm::ArrayRef<Argument> arguments,
                                  int64_t tileM, int64_t tileN,
                                  unsigned threads) const {
  const Extents extents = extentsOf(arguments);
  std::vector<Sequence> sequences = sequencesOf(arguments);
  const int64_t count = sequences.size();
  MaskCounts total;
  auto ceilDiv = [](int64_t a, int64_t b) { return (a + b - 1) / b; };
  if (!mask) {
    for (const Sequence &sequence : sequences) {
      total.fullBlocks += extents.heads * ceilDiv(sequence.queries, tileM) *
                          ceilDiv(sequence.keys, tileN);
      total.keptPairs += extents.heads * sequence.queries * sequence.keys;
      total.emptyRows +=
          sequence.keys == 0 ? extents.heads * sequence.queries : 0;
    }
    return total;
  }
  // A mask that ignores the batch or the head is counted once and multiplied,
  // where all sequences are as long.
  int64_t factor = 1, heads = mask->usesHead ? extents.heads : 1;
  if (lengths.empty() && !mask->usesBatch && count > 0) {
    sequences.resize(1);
    factor = count;
  }
  factor *= heads > 0 ? extents.heads / heads : 0;

  struct Tile {
    const Sequence *sequence;
    int64_t head, firstRow;
  };
  std::vector<Tile> tiles;
  for (const Sequence &sequence : sequences)
    for (int64_t head = 0; head < heads; ++head)
      for (int64_t row = 0; row < sequence.queries; row += tileM)
        tiles.push_back({&sequence, head, row});

  std::mutex mutex;
  parallelFor(tiles.size(), threads, [&] {
    auto inside = std::make_shared<Extents>(extents);
    inside->batch = count;
    auto evaluator =
        std::make_shared<RegionEvaluator<float>>(*mask, arguments, *inside);
    return [&, inside, evaluator](int64_t item) {
      auto [sequence, h, firstRow] = tiles[item];
      inside->query = sequence->queries;
      inside->key = sequence->keys;
      const int64_t allKeys = sequence->keys;
      const int64_t keyBlocks = ceilDiv(allKeys, tileN);
      int64_t lastRow = std::min(sequence->queries, firstRow + tileM);
      int64_t rows = lastRow - firstRow;
      std::vector<int64_t> kept(keyBlocks);
      MaskCounts counts;
      for (int64_t i = firstRow; i < lastRow; ++i) {
        evaluator->setRow(sequence->number, h, i);
        int64_t keptInRow = 0;
        constexpr int lanes = RegionEvaluator<float>::lanes;
        bool keep[lanes];
        for (int64_t first = 0; first < allKeys; first += lanes) {
          int count =
              static_cast<int>(std::min<int64_t>(lanes, allKeys - first));
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
        int64_t keys = std::min(tileN, allKeys - block * tileN);
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
