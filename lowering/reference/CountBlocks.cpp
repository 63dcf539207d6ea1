//===- CountBlocks.cpp - what a mask keeps, pair by pair ------------------===//
#include "lowering/reference/ParallelRows.h"
#include "lowering/reference/Reference.h"

#include <memory>
#include <mutex>

using namespace qm::reference;

static int64_t ceilDiv(int64_t a, int64_t b) { return (a + b - 1) / b; }

/// The pairs that the mask keeps of `rows` rows, for each block of keys.
static std::vector<int64_t> countTile(RegionEvaluator<float> &evaluator,
                                      const Sequence &sequence, int64_t head,
                                      int64_t firstRow, int64_t rows,
                                      int64_t tileN, int64_t &emptyRows) {
  std::vector<int64_t> kept(ceilDiv(sequence.keys, tileN));
  for (int64_t i = firstRow; i < firstRow + rows; ++i) {
    evaluator.setRow(sequence.number, head, i);
    int64_t keptInRow = 0;
    constexpr int lanes = RegionEvaluator<float>::lanes;
    bool keep[lanes];
    for (int64_t first = 0; first < sequence.keys; first += lanes) {
      int count =
          static_cast<int>(std::min<int64_t>(lanes, sequence.keys - first));
      evaluator.mask(first, count, keep);
      for (int lane = 0; lane < count;) {
        int64_t block = (first + lane) / tileN, keptInBlock = 0;
        int64_t end = std::min<int64_t>(count, (block + 1) * tileN - first);
        for (; lane < end; ++lane)
          keptInBlock += keep[lane];
        kept[block] += keptInBlock;
        keptInRow += keptInBlock;
      }
    }
    emptyRows += keptInRow == 0;
  }
  return kept;
}

MaskCounts Reference::countBlocks(llvm::ArrayRef<Argument> arguments,
                                  int64_t tileM, int64_t tileN,
                                  unsigned threads) const {
  const Extents extents = extentsOf(arguments);
  std::vector<Sequence> sequences = sequencesOf(arguments);
  const int64_t count = sequences.size();
  MaskCounts total;
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
      int64_t rows = std::min(tileM, sequence->queries - firstRow);
      MaskCounts counts;
      std::vector<int64_t> kept = countTile(*evaluator, *sequence, h, firstRow,
                                            rows, tileN, counts.emptyRows);
      for (int64_t block = 0; block < keyBlocks; ++block) {
        int64_t keys = std::min(tileN, allKeys - block * tileN);
        counts.keptPairs += kept[block];
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

BlockMap Reference::mapBlocks(llvm::ArrayRef<Argument> arguments, int64_t tileM,
                              int64_t tileN, unsigned threads) const {
  BlockMap map;
  map.tileM = tileM, map.tileN = tileN;
  std::vector<Sequence> sequences = sequencesOf(arguments);
  if (sequences.empty())
    return map;
  const Sequence &sequence = sequences.front();
  map.queries = sequence.queries, map.keys = sequence.keys;
  map.rowTiles = ceilDiv(map.queries, tileM);
  map.keyBlocks = ceilDiv(map.keys, tileN);
  map.kept.resize(map.rowTiles * map.keyBlocks);
  Extents extents = extentsOf(arguments);
  extents.batch = sequences.size();
  extents.query = map.queries, extents.key = map.keys;
  parallelFor(map.rowTiles, threads, [&] {
    std::shared_ptr<RegionEvaluator<float>> evaluator;
    if (mask)
      evaluator =
          std::make_shared<RegionEvaluator<float>>(*mask, arguments, extents);
    return [&, evaluator](int64_t tile) {
      if (!evaluator) {
        for (int64_t block = 0; block < map.keyBlocks; ++block)
          map.kept[tile * map.keyBlocks + block] = map.pairsIn(tile, block);
        return;
      }
      int64_t firstRow = tile * tileM, emptyRows = 0;
      std::vector<int64_t> kept =
          countTile(*evaluator, sequence, /*head=*/0, firstRow,
                    std::min(tileM, map.queries - firstRow), tileN, emptyRows);
      std::copy(kept.begin(), kept.end(),
                map.kept.begin() + tile * map.keyBlocks);
    };
  });
  return map;
}
