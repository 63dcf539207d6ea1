// Numbers that a library function cannot work with are told at the user's line.
#include <qm/attention.h>

#include <gtest/gtest.h>

#include <cstring>
#include <functional>
#include <vector>

using namespace qm;

namespace {

/// One QM0114 at `line` whose message has these words.
void expectMistake(Spec &spec, int line, std::vector<const char *> words) {
  EXPECT_EQ(spec.mlir(), nullptr);
  ASSERT_GE(spec.diagnosticCount(), 1);
  Diagnostic d = spec.diagnostic(0);
  SCOPED_TRACE(d.message);
  EXPECT_STREQ(d.code, "QM0114");
  EXPECT_EQ(d.line, line);
  EXPECT_NE(std::strstr(d.file, "MistakesTest.cpp"), nullptr);
  for (const char *word : words)
    EXPECT_NE(std::strstr(d.message, word), nullptr) << word;
  EXPECT_STRNE(d.help, "");
}

/// A spec and the buffers that some masks need.
struct Buffers : Spec {
  Buffers() : Spec("mistaken") { heads(1).headDim(8); }
  // clang-format off
  Buffer<Index, Batch, Head, Index, Index> tiles = buffer("tiles", i32, batch(), heads(), dynamic, 4);
  Buffer<Index, Index> table = buffer("table", i32, dynamic);
  Buffer<Bool, Index> flags = buffer("flags", i1, dynamic);
  Buffer<Bool, Index, Index> ancestors = buffer("ancestors", i1, dynamic, dynamic);
  // clang-format on
};

struct Case {
  const char *name;
  std::function<Mask(Buffers &)> mask;
  int line;
  std::vector<const char *> words;
};

/// The macro's arguments stand on one line, where the mask is made.
#define QM_CASE(mask, ...)                                                     \
  Case {                                                                       \
    #mask, [](Buffers &x) { return mask; }, __LINE__, { __VA_ARGS__ }          \
  }

TEST(DslCatalogue, MistakesInMasks) {
  // clang-format off
  const Case cases[] = {
      QM_CASE(dilatedWindow(-1, 2), "dilatedWindow", "-1"),
      QM_CASE(dilatedWindow(8, 0), "rate", "0", "at least 1"),
      QM_CASE(globalWindow(-2, x.flags), "globalWindow", "-2"),
      QM_CASE(sinkWindow(-4, 8), "sinkWindow", "-4"),
      QM_CASE(sinkWindow(4, -8), "sinkWindow", "-8"),
      QM_CASE(blockCausal(0), "blockCausal", "0"),
      QM_CASE(chunkedCausal(-256), "chunkedCausal", "-256"),
      QM_CASE(blockDiagonal(0), "blockDiagonal"),
      QM_CASE(batchify(0, full()), "batchify"),
      QM_CASE(miniCausal(0), "miniCausal"),
      QM_CASE(blockDiffusion(0, 4), "blockDiffusion", "0"),
      QM_CASE(blockDiffusion(64, 0), "blockDiffusion", "0"),
      QM_CASE(blockDiffusion(100, 32), "100", "32"),
      QM_CASE(flamingo(x.table, x.table, 0), "flamingo"),
      QM_CASE(tree(-1, x.ancestors), "tree", "-1"),
      QM_CASE(topKBlocks(x.tiles, 0, 4), "topKBlocks", "tile"),
      QM_CASE(topKBlocks(x.tiles, 64, 0), "topKBlocks", "slot"),
      QM_CASE(natten2d({0, 8}, {3, 3}), "natten2d", "rows", "0"),
      QM_CASE(natten2d({8, -1}, {3, 3}), "natten2d", "columns", "-1"),
      QM_CASE(natten2d({8, 8}, {0, 3}), "kernel", "0"),
      QM_CASE(natten2d({8, 8}, {3, 4}), "4", "middle"),
      QM_CASE(natten2d({5, 8}, {7, 3}), "7", "5"),
      QM_CASE(tiledNatten2d({8, 8}, {3, 3}, {3, 4}), "rows", "8", "3"),
      QM_CASE(tiledNatten2d({8, 8}, {3, 3}, {4, 0}), "tile", "0"),
      QM_CASE(mortonNatten2d(12, {3, 3}), "12", "power of two"),
      QM_CASE(sta2d({8, 8}, {4, 4}, {3, 1}), "3", "2"),
      QM_CASE(sta2d({8, 9}, {4, 4}, {1, 1}), "columns", "9", "4"),
      QM_CASE(sta3d({3, 8, 8}, {2, 4, 4}, {1, 1, 1}), "frames", "3", "2"),
      QM_CASE(svgSpatial(-1, 64, 2), "svgSpatial", "-1"),
      QM_CASE(svgSpatial(0, 0, 2), "svgSpatial", "frame"),
      QM_CASE(svgTemporal(0, 64, 0, 2), "svgTemporal", "frames"),
      QM_CASE(svgTemporal(0, 64, 4, -2), "svgTemporal", "-2"),
  };
  // clang-format on
  for (const Case &each : cases) {
    SCOPED_TRACE(each.name);
    Buffers spec;
    spec.mask(each.mask(spec));
    expectMistake(spec, each.line, each.words);
  }
}

struct Scores : Spec {
  Buffer<Float, Head, Index> table;
  Buffer<Float, Index, Head> buckets;
  Scores()
      : Spec("scores"), table(buffer("table", f32, heads(), dynamic)),
        buckets(buffer("buckets", f32, dynamic, heads())) {
    heads(2).headDim(8);
  }
};

TEST(DslCatalogue, MistakesInScores) {
  Scores zero, negative, nan, radius, few, near, odd;
  zero.score(softcap(0));
  expectMistake(zero, __LINE__ - 1, {"softcap", "0"});
  negative.score(temperature(2).then(softcap(-3.5)));
  expectMistake(negative, __LINE__ - 1, {"softcap", "-3.5"});
  nan.score(softcap(__builtin_nan("")));
  expectMistake(nan, __LINE__ - 1, {"softcap", "nan"});
  radius.score(relativeTable(radius.table, -1));
  expectMistake(radius, __LINE__ - 1, {"relativeTable", "-1"});
  few.score(t5Bias(few.buckets, 2));
  expectMistake(few, __LINE__ - 1, {"t5Bias", "2 buckets", "4"});
  near.score(t5Bias(near.buckets, 32, 8));
  expectMistake(near, __LINE__ - 1, {"t5Bias", "distance 8"});
  Scores edge;
  edge.score(
      graphormerEdge(edge.buffer("e", f32, dynamic, edge.heads(), dynamic),
                     edge.buffer("t", i32, dynamic, dynamic, dynamic, dynamic),
                     edge.buffer("n", i32, dynamic, dynamic, dynamic), 0));
  expectMistake(edge, __LINE__ - 3, {"graphormerEdge", "step count", "0"});
  odd.score(sandwich(7));
  expectMistake(odd, __LINE__ - 1, {"sandwich", "7"});
}

} // namespace
