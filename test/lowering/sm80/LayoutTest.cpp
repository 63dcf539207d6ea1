// Shared memory layout: what ldmatrix reads is what cp.async wrote, and no
// access has a bank conflict. Brute force over lanes. Hardware serves 16-byte
// accesses in phases of eight lanes; a phase is free of conflicts when its
// eight chunks differ modulo 128 bytes (32 banks of 4).
#include "lowering/sm80/Layout.h"

#include <gtest/gtest.h>

#include <map>
#include <set>

using namespace qm::sm80;

/// `idle`: the address of a lane that takes no part.
static constexpr int idle = -1;
static bool conflictFree(const std::vector<int> &addresses) {
  for (size_t phase = 0; phase < addresses.size(); phase += 8) {
    std::set<int> chunks;
    for (size_t lane = phase; lane < phase + 8; ++lane)
      if (addresses[lane] != idle &&
          !chunks.insert(addresses[lane] / chunkBytes % 8).second)
        return false;
  }
  return true;
}

/// (row, 16-byte chunk of the row) by byte offset, as the copies of `threads`
/// threads write a tile.
static std::map<int, std::pair<int, int>> copiedTile(int rows, int columns,
                                                     int threads) {
  int rowBytes = rowBytesFor(columns), chunks = rowChunks(columns);
  std::map<int, std::pair<int, int>> tile;
  for (int row = 0; row < rows; row += threads / 8)
    for (int half = 0; half < (chunks + 7) / 8; ++half) {
      std::vector<int> addresses;
      for (int thread = 0; thread < threads; ++thread) {
        int r = copyRow(thread), c = copyChunk(thread);
        if (half * 8 + c >= chunks) {
          addresses.push_back(idle);
          continue;
        }
        int offset =
            chunkOffset(r, c, rowBytes) + row * rowBytes + half * halfRowBytes;
        tile[offset] = {row + r, half * 8 + c};
        addresses.push_back(offset);
      }
      EXPECT_TRUE(conflictFree(addresses)) << "copy of row " << row;
    }
  return tile;
}

class LayoutTest : public testing::TestWithParam<int> {};

TEST_P(LayoutTest, CopiesCoverTheTileOnce) {
  int columns = GetParam();
  for (int warps : {1, 2, 4, 8}) {
    auto tile = copiedTile(64, columns, 32 * warps);
    EXPECT_EQ(tile.size(), size_t(64 * rowChunks(columns)));
    EXPECT_LT(tile.rbegin()->first, 64 * rowBytesFor(columns));
    std::set<std::pair<int, int>> elements;
    for (auto &[offset, element] : tile)
      elements.insert(element);
    EXPECT_EQ(elements.size(), tile.size());
  }
}

TEST_P(LayoutTest, FragmentsReadWhatWasCopied) {
  int columns = GetParam(), rowBytes = rowBytesFor(columns);
  auto tile = copiedTile(64, columns, 128);
  for (int rowStep = 0; rowStep < 4; ++rowStep)
    for (int step = 0; step < rowChunks(columns) / 2; ++step) {
      ColumnStep column = columnStep(step, rowBytes);
      std::vector<int> queries, keys;
      for (int lane = 0; lane < 32; ++lane) {
        auto at = [&](int offset) {
          return (offset ^ int(column.swizzle)) + int(column.bytes) +
                 rowStep * 16 * rowBytes;
        };
        int matrix = lane / 8, row = lane % 8;
        int query = at(rowMajorFragment(lane, rowBytes));
        EXPECT_EQ(tile[query], std::pair(rowStep * 16 + row + matrix % 2 * 8,
                                         step * 2 + matrix / 2));
        int key = at(columnMajorFragment(lane, rowBytes));
        EXPECT_EQ(tile[key], std::pair(rowStep * 16 + row + matrix / 2 * 8,
                                       step * 2 + matrix % 2));
        queries.push_back(query);
        keys.push_back(key);
      }
      EXPECT_TRUE(conflictFree(queries)) << "step " << step;
      EXPECT_TRUE(conflictFree(keys)) << "step " << step;
    }
}

// 4-byte elements: what a lane reads of a value tile, 4 bytes a lane.
TEST_P(LayoutTest, WideValuesAreReadWithoutConflicts) {
  int columns = GetParam(), rowBytes = rowBytesFor(wideColumns(columns));
  auto tile = copiedTile(64, int(wideColumns(columns)), 128);
  for (int step = 0; step < columns / 8; ++step)
    for (int key : {0, 1, 8, 9, 17}) {
      ColumnStep column = columnStep(step, rowBytes),
                 row = wideValueRow(key, rowBytes);
      std::set<int> banks;
      for (int lane = 0; lane < 32; ++lane) {
        int offset = (wideValueElement(lane, rowBytes) ^
                      int(column.swizzle ^ row.swizzle)) +
                     int(column.bytes + row.bytes);
        banks.insert(offset / 4 % 32);
        int element = step * 8 + lane / 4;
        EXPECT_EQ(tile[offset - offset % chunkBytes],
                  std::pair(lane % 4 * 2 + key, element / 4));
        EXPECT_EQ(offset % chunkBytes, element % 4 * 4);
      }
      EXPECT_EQ(banks.size(), 32u) << "step " << step << ", key " << key;
    }
}

TEST_P(LayoutTest, OutputIsStagedWithoutConflicts) {
  int columns = GetParam(), rowBytes = rowBytesFor(columns);
  // Writes of 4 bytes: 32 lanes, 32 banks.
  std::map<int, std::pair<int, int>> staged; // byte offset -> row, 4-byte word
  for (int group = 0; group < columns / 8; ++group)
    for (int row = 0; row < 32; row += 8) {
      std::set<int> banks;
      for (int lane = 0; lane < 32; ++lane) {
        ColumnStep step = groupStep(group, rowBytes);
        int offset = (accumulatorPair(lane, rowBytes) ^ int(step.swizzle)) +
                     row * rowBytes + int(step.bytes);
        banks.insert(offset / 4 % 32);
        staged[offset] = {row + lane / 4, group * 4 + lane % 4};
      }
      EXPECT_EQ(banks.size(), 32u);
    }
  // Reads of 16 bytes, whole rows.
  int lanesPerRow = outputLanes(columns);
  for (int first = 0; first < 32; first += 32 / lanesPerRow) {
    std::vector<int> addresses;
    for (int lane = 0; lane < 32; ++lane) {
      int row = first + lane / lanesPerRow, chunk = lane % lanesPerRow;
      if (chunk >= columns / 8) {
        addresses.push_back(idle);
        continue;
      }
      addresses.push_back(chunkOffset(row, chunk, rowBytes));
      for (int word = 0; word < 4; ++word)
        EXPECT_EQ(staged[addresses.back() + 4 * word],
                  std::pair(row, chunk * 4 + word));
    }
    EXPECT_TRUE(conflictFree(addresses));
  }
}

// Every head dim that the lowering takes.
INSTANTIATE_TEST_SUITE_P(Columns, LayoutTest, testing::Range(8, 257, 8));
