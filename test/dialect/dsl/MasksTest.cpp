// The mask library and its algebra: golden numbers
// (test/data/uniform_probe.json, embedded) and brute force.
#include "test/dialect/dsl/SpecText.h"

#include <qm/attention.h>

#include <gtest/gtest.h>

#include <cstdlib>
#include <functional>

using namespace qm;
using qm::test::Array;
using qm::test::Call;
using qm::test::Scalar;
using qm::test::SpecText;

namespace {

SpecText traceMask(const Mask &mask) {
  Spec spec("masks");
  spec.heads(4).headDim(8).mask(mask);
  return SpecText(spec.mlir());
}

Call call(int query, int key, int batch = 1) {
  Call result;
  result.batch = batch;
  result.query = query;
  result.key = key;
  return result;
}

/// A row of the uniform probe: kept keys, and their mean (0 for none).
struct Row {
  int count;
  double mean;
};

std::vector<Row> probe(const SpecText &mask, const Call &call) {
  std::vector<Row> rows;
  for (int i = 0; i < call.query; ++i) {
    Row row{0, 0};
    for (int j = 0; j < call.key; ++j)
      if (mask.evaluateMask(call, 0, 0, i, j)) {
        ++row.count;
        row.mean += j;
      }
    if (row.count)
      row.mean /= row.count;
    rows.push_back(row);
  }
  return rows;
}

void expectProbe(const Mask &mask, int query, int key,
                 const std::vector<int> &counts,
                 const std::vector<double> &means) {
  std::vector<Row> rows = probe(traceMask(mask), call(query, key));
  ASSERT_EQ(rows.size(), counts.size());
  for (size_t i = 0; i < rows.size(); ++i) {
    EXPECT_EQ(rows[i].count, counts[i]) << "row " << i;
    EXPECT_DOUBLE_EQ(rows[i].mean, means[i]) << "row " << i;
  }
}

TEST(DslMasks, CausalGolden) {
  expectProbe(causal(TopLeft), 5, 5, {1, 2, 3, 4, 5}, {0, .5, 1, 1.5, 2});
  expectProbe(causal(BottomRight), 5, 5, {1, 2, 3, 4, 5}, {0, .5, 1, 1.5, 2});
  expectProbe(causal(TopLeft), 2, 5, {1, 2}, {0, .5});
  expectProbe(causal(BottomRight), 2, 5, {4, 5}, {1.5, 2});
  expectProbe(causal(BottomRight), 5, 2, {0, 0, 0, 1, 2}, {0, 0, 0, 0, .5});
}

TEST(DslMasks, WindowGolden) {
  expectProbe(slidingWindow(2), 6, 6, {1, 2, 3, 3, 3, 3}, {0, .5, 1, 2, 3, 4});
  expectProbe(slidingWindow(1, 1), 6, 6, {2, 3, 3, 3, 3, 2},
              {.5, 1, 2, 3, 4, 4.5});
  expectProbe(slidingWindow(5), 6, 6, {1, 2, 3, 4, 5, 6},
              {0, .5, 1, 1.5, 2, 2.5});
  expectProbe(slidingWindow(2, 0, BottomRight), 1, 8, {3}, {6});
  expectProbe(slidingWindow(2, 0, TopLeft), 1, 8, {1}, {0});
  expectProbe(slidingWindow(0), 3, 3, {1, 1, 1}, {0, 1, 2});
  expectProbe(slidingWindow(unbounded, -3), 6, 6, {0, 0, 0, 1, 2, 3},
              {0, 0, 0, 0, .5, 1});
  expectProbe(slidingWindow(unbounded), 3, 3, {1, 2, 3}, {0, .5, 1});
  expectProbe(slidingWindow(1, unbounded), 4, 4, {4, 4, 3, 2},
              {1.5, 1.5, 2, 2.5});
  expectProbe(slidingWindow(2147483647, 2147483647), 2, 3, {3, 3}, {1, 1});
}

TEST(DslMasks, PrefixGolden) {
  expectProbe(prefix(3) || causal(TopLeft), 6, 6, {3, 3, 3, 4, 5, 6},
              {1, 1, 1, 1.5, 2, 2.5});
}

TEST(DslMasks, DilatedAndNattenLambdasGolden) {
  expectProbe(custom([](Batch, Head, Query i, Key j) {
                return abs(i - j) <= 4 && abs(i - j) % 2 == 0;
              }),
              6, 6, {3, 3, 3, 3, 3, 3}, {2, 3, 2, 3, 2, 3});
  auto natten = custom([](Batch, Head, Query i, Key j) {
    Index row = clamp(i / 4, 1, 2), column = clamp(i % 4, 1, 2);
    return abs(row - j / 4) <= 1 && abs(column - j % 4) <= 1;
  });
  expectProbe(natten, 16, 16, std::vector<int>(16, 9),
              {5, 5, 6, 6, 5, 5, 6, 6, 9, 9, 10, 10, 9, 9, 10, 10});
}

/// A spec with every buffer and scalar that a mask here reads.
struct Captures {
  Spec spec{"captures"};
  Buffer<Index, Batch> lengths = spec.buffer("lengths", i32, spec.batch());
  Buffer<Index, Query> ids = spec.buffer("ids", i32, spec.queryLength());
  Buffer<Index, Batch, Key> keyIds =
      spec.buffer("key_ids", i64, spec.batch(), spec.keyLength());
  Buffer<Bool, Batch, Key> valid =
      spec.buffer("valid", i1, spec.batch(), spec.keyLength());
  Index n = spec.param("n", i32);

  SpecText trace(const Mask &mask) {
    spec.heads(4).headDim(8).mask(mask);
    return SpecText(spec.mlir());
  }

  Call call(int query, int key) const {
    Call result = ::call(query, key, 3);
    result.buffers["lengths"] = {{3}, {0, 4, 100}};
    Array queries{{query}, {}}, keys{{3, key}, {}}, flags{{3, key}, {}};
    for (int i = 0; i < query; ++i)
      queries.elements.push_back(static_cast<float>(i / 3));
    for (int at = 0; at < 3 * key; ++at) {
      keys.elements.push_back(static_cast<float>(at % key / 2));
      flags.elements.push_back(at % 5 < 2 ? 3.f
                                          : 0.f); // any byte but 0 is true
    }
    result.buffers["ids"] = queries;
    result.buffers["key_ids"] = keys;
    result.buffers["valid"] = flags;
    result.scalars["n"] = {2, 0};
    return result;
  }
};

using Keep = std::function<bool(int b, int i, int j)>;

void expectMask(const SpecText &mask, const Call &call, const Keep &keep) {
  for (int b = 0; b < call.batch; ++b)
    for (int i = 0; i < call.query; ++i)
      for (int j = 0; j < call.key; ++j)
        EXPECT_EQ(mask.evaluateMask(call, b, 0, i, j), keep(b, i, j))
            << b << " " << i << " " << j;
}

TEST(DslMasks, LengthsPerBatchEntry) {
  const int lengths[] = {0, 4, 100};
  Captures a, b;
  expectMask(a.trace(padding(a.lengths)), a.call(3, 6),
             [&](int b, int, int j) { return j < lengths[b]; });
  expectMask(b.trace(prefix(b.lengths) || causal(TopLeft)), b.call(7, 6),
             [&](int b, int i, int j) { return j < lengths[b] || i >= j; });
}

TEST(DslMasks, PaddingByFlags) {
  Captures captures;
  expectMask(captures.trace(padding(captures.valid)), captures.call(2, 7),
             [](int b, int, int j) { return (b * 7 + j) % 5 < 2; });
}

TEST(DslMasks, DocumentIds) {
  Captures one, two;
  expectMask(one.trace(document(one.ids) && causal(TopLeft)), one.call(8, 8),
             [](int, int i, int j) { return i / 3 == j / 3 && i >= j; });
  expectMask(two.trace(document(two.ids, two.keyIds)), two.call(8, 6),
             [](int, int i, int j) { return i / 3 == j / 2; });
}

TEST(DslMasks, DocumentsOfGivenLengthsGolden) {
  // Lengths 0, 2, 1, 0, 3, causal within each.
  Spec spec("documents");
  auto ids = spec.buffer("ids", i32, spec.queryLength());
  spec.heads(1).headDim(8).mask(document(ids) && causal(TopLeft));
  Call packed = call(6, 6);
  packed.buffers["ids"] = {{6}, {1, 1, 2, 4, 4, 4}};
  std::vector<Row> rows = probe(SpecText(spec.mlir()), packed);
  const std::vector<int> counts{1, 2, 1, 1, 2, 3};
  const std::vector<double> means{0, .5, 2, 3, 3.5, 4};
  for (int i = 0; i < 6; ++i) {
    EXPECT_EQ(rows[i].count, counts[i]);
    EXPECT_DOUBLE_EQ(rows[i].mean, means[i]);
  }
}

TEST(DslMasks, RunTimeScalars) {
  Captures window, length;
  expectMask(
      window.trace(slidingWindow(window.n, window.n - 1)), window.call(5, 9),
      [](int, int i, int j) { return i + 4 - 2 <= j && j <= i + 4 + 1; });
  expectMask(length.trace(prefix(length.n)), length.call(2, 5),
             [](int, int, int j) { return j < 2; });
}

TEST(DslMasks, Algebra) {
  auto causalAt = [](int i, int j) { return i >= j; };
  expectMask(traceMask(!causal(TopLeft)), call(6, 6),
             [&](int, int i, int j) { return !causalAt(i, j); });
  expectMask(traceMask(causal(TopLeft) && !prefix(2)), call(6, 6),
             [&](int, int i, int j) { return causalAt(i, j) && j >= 2; });
  expectMask(traceMask(causal(TopLeft).shift(2, 1)), call(6, 6),
             [&](int, int i, int j) { return causalAt(i + 2, j + 1); });
  Captures captures;
  expectMask(captures.trace(causal(TopLeft).shift(captures.n, 0)),
             captures.call(6, 6),
             [&](int, int i, int j) { return causalAt(i + 2, j); });
  auto inLambda =
      custom([m = causal(TopLeft)](Batch b, Head h, Query i, Key j) {
        return select(j < 3, m(b, h, i, j), i == j);
      });
  expectMask(traceMask(inLambda), call(6, 6), [&](int, int i, int j) {
    return j < 3 ? causalAt(i, j) : i == j;
  });
}

TEST(DslMasks, FullIsNoMask) {
  EXPECT_TRUE(traceMask(full()).mask.empty());
  EXPECT_TRUE(traceMask(full() && full()).mask.empty());
  EXPECT_TRUE(traceMask(full() || causal(TopLeft)).mask.empty());
  EXPECT_TRUE(traceMask(slidingWindow(unbounded, unbounded)).mask.empty());
  EXPECT_EQ(traceMask(full() && causal(TopLeft)).mask.size(), 2u);
  expectProbe(!full(), 2, 3, {0, 0}, {0, 0});
}

TEST(DslMasks, MasksAreValues) {
  Mask mask = causal(TopLeft);
  {
    Mask window = slidingWindow(1);
    mask = mask && window;
    mask = *&mask;
  }
  expectProbe(mask, 4, 4, {1, 2, 2, 2}, {0, .5, 1.5, 2.5});
}

TEST(DslMasks, PerHead) {
  SpecText mask = traceMask(
      custom([](Batch, Head h, Query i, Key j) { return h > 0 && i >= j; }));
  EXPECT_FALSE(mask.evaluateMask(call(4, 4), 0, 0, 3, 0));
  EXPECT_TRUE(mask.evaluateMask(call(4, 4), 0, 1, 3, 0));
}

} // namespace
