// Every mask of the catalogue against the same mask in plain C++, pair by pair,
// and against golden block counts (test/data/block_counts.json).
#include "test/dialect/dsl/catalogue/Entries.h"

#include <gtest/gtest.h>

#include <fstream>
#include <regex>
#include <sstream>

using namespace qm;
using namespace qm::test;

namespace {

/// Properties of a mask in blocks of 128 x 128.
struct Counts {
  int kept = 0, full = 0, partial = 0, empty = 0, emptyRows = 0;
};

Counts countBlocks(int query, int key, const Keep &keep) {
  constexpr int tile = 128;
  Counts counts;
  std::vector<int> rows(query);
  for (int i0 = 0; i0 < query; i0 += tile)
    for (int j0 = 0; j0 < key; j0 += tile) {
      int pairs = 0, kept = 0;
      for (int i = i0; i < std::min(i0 + tile, query); ++i)
        for (int j = j0; j < std::min(j0 + tile, key); ++j, ++pairs)
          if (keep(0, 0, i, j))
            ++kept, ++rows[i];
      counts.kept += kept;
      ++(kept == pairs ? counts.full : kept ? counts.partial : counts.empty);
    }
  for (int row : rows)
    counts.emptyRows += row == 0;
  return counts;
}

int golden(const std::string &name, const char *field) {
  static const std::string text = [] {
    std::ifstream file(std::string(QM_TEST_DATA) + "/block_counts.json");
    std::stringstream all;
    all << file.rdbuf();
    return all.str();
  }();
  std::smatch match;
  std::regex pattern("\"" + name + "\": \\{[^}]*\"" + field + "\": (\\d+)");
  return std::regex_search(text, match, pattern) ? std::stoi(match[1]) : -1;
}

TEST(DslCatalogue, MasksKeepWhatTheirFormulasSay) {
  size_t count = Captures().entries().size();
  for (size_t n = 0; n < count; ++n) {
    Captures captures;
    Entry entry = captures.entries()[n];
    SCOPED_TRACE(entry.example);
    captures.call.query = entry.query;
    captures.spec.mask(entry.mask);
    SpecText text(captures.spec.mlir());
    if (text.mask.empty()) {
      EXPECT_EQ(entry.name, "full");
      continue;
    }
    Evaluator evaluate(text.mask, captures.call);
    int wrong = 0;
    for (int b = 0; b < 2; ++b)
      for (int h = 0; h < 2; ++h)
        // All pairs once; of the other heads and batch entries, some.
        for (int i = 0; i < entry.query; i += b || h ? 5 : 1)
          for (int j = 0; j < Captures::keys; j += b || h ? 3 : 1)
            wrong += (evaluate(0, b, h, i, j).integer != 0) !=
                     entry.keep(b, h, i, j);
    EXPECT_EQ(wrong, 0);
  }
}

TEST(DslCatalogue, GoldenBlockCounts) {
  Captures captures;
  for (const Entry &entry : captures.entries()) {
    if (!*entry.golden)
      continue;
    SCOPED_TRACE(entry.example);
    Counts counts = countBlocks(entry.query, Captures::keys, entry.keep);
    EXPECT_EQ(counts.kept, golden(entry.golden, "kept"));
    EXPECT_EQ(counts.full, golden(entry.golden, "full"));
    EXPECT_EQ(counts.partial, golden(entry.golden, "partial"));
    EXPECT_EQ(counts.empty, golden(entry.golden, "empty"));
    EXPECT_EQ(counts.emptyRows, golden(entry.golden, "empty_rows"));
  }
}

/// Keys that each query keeps.
std::vector<int> keysARow(const Mask &mask, int query, int key) {
  Spec spec("rows");
  spec.heads(1).headDim(8).mask(mask);
  SpecText text(spec.mlir());
  Call call;
  call.query = query, call.key = key;
  Evaluator evaluate(text.mask, call);
  std::vector<int> rows(query);
  for (int i = 0; i < query; ++i)
    for (int j = 0; j < key; ++j)
      rows[i] += evaluate(0, 0, 0, i, j).integer != 0;
  return rows;
}

// Limiting the row by the width, as public catalogues do, leaves the last
// row 6.
TEST(DslCatalogue, NattenOfANonSquareCanvasKeepsItsSize) {
  EXPECT_EQ(keysARow(natten2d({.rows = 3, .columns = 5}, {3, 3}), 15, 15),
            std::vector<int>(15, 9));
  EXPECT_EQ(keysARow(natten2d({.rows = 5, .columns = 3}, {3, 3}), 15, 15),
            std::vector<int>(15, 9));
  EXPECT_EQ(keysARow(natten2d({7, 9}, {5, 3}), 63, 63),
            std::vector<int>(63, 15));
  EXPECT_EQ(keysARow(tiledNatten2d({4, 6}, {3, 5}, {2, 3}), 24, 24),
            std::vector<int>(24, 15));
  EXPECT_EQ(keysARow(sta3d({2, 4, 6}, {1, 2, 2}, {2, 1, 2}), 48, 48),
            std::vector<int>(48, 2 * 1 * 2 * 4));
}

TEST(DslCatalogue, BottomRightAlignsTheLastQueryWithTheLastKey) {
  EXPECT_EQ(keysARow(sinkWindow(2, 3), 3, 10), (std::vector<int>{6, 6, 6}));
  EXPECT_EQ(keysARow(chunkedCausal(4), 2, 9), (std::vector<int>{4, 1}));
  EXPECT_EQ(keysARow(chunkedCausal(4, TopLeft), 2, 9),
            (std::vector<int>{1, 2}));
  EXPECT_EQ(keysARow(blockCausal(4), 2, 9), (std::vector<int>{8, 9}));
  // Queries before the first key keep nothing.
  EXPECT_EQ(keysARow(blockCausal(2), 4, 2), (std::vector<int>{0, 0, 2, 2}));
  EXPECT_EQ(keysARow(dilatedWindow(4, 2), 1, 9), (std::vector<int>{3}));
}

TEST(DslCatalogue, SizesGivenAtLaunch) {
  Spec spec("launch");
  Index n = spec.param("n", i32), m = spec.param("m", i32);
  spec.heads(1).headDim(8).mask(chunkedCausal(n) && blockDiffusion(m, n) &&
                                natten2d({m, n}, {3, 1}));
  SpecText text(spec.mlir());
  Call call;
  call.query = call.key = 16;
  call.scalars["n"] = {2, 0};
  call.scalars["m"] = {8, 0};
  for (int i = 0; i < 16; ++i)
    for (int j = 0; j < 16; ++j) {
      bool chunk = i / 2 == j / 2 && i >= j; // inside a block of diffusion
      bool near = i % 2 == j % 2;            // rows of a chunk are the same
      EXPECT_EQ(text.evaluateMask(call, 0, 0, i, j), chunk && near)
          << i << " " << j;
    }
}

} // namespace
