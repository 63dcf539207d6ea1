// Reports 1, 2, 4 and 25: rows, shards and documents without a key.
#include "test/contract/RowCases.h"

#include "runtime/MergePartials.h"

#include "gtest/gtest.h"

#include <cmath>
#include <limits>

using namespace qm;
using namespace qm::contract;

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

const Shape oneHead = {1, 1, 1, 1, 1, 64, 64};

Call run(const Describe &describe, Call call) {
  Program program(call.q.view.dtype, call.shape(), describe);
  program.run(call);
  return call;
}

Call probeOf(int64_t queries, int64_t keys) {
  Shape shape = oneHead;
  shape.queries = queries;
  shape.keys = keys;
  return uniformProbe(Element::F32, shape);
}

TEST(UserReports, Row01_EmptyRowIsZeroAndMinusInfinity) {
  checkRow("Row01");
  Shape shape = oneHead;
  shape.queries = shape.keys = 4;
  Call call = run(
      [](Spec &spec) {
        spec.scale(1).mask([](Batch, Head, Query i, Key) { return i != 1; });
      },
      k4Call(Element::F32, shape));
  expectFirstColumn(call, {2.921886758, 0, 2.069112232, 2.756157284},
                    {2.495181898, -infinity, 1.342349582, 1.833790201});
}

TEST(UserReports, Row02_FirstRowsWithoutKeys) {
  checkRow("Row02");
  Call call =
      run([](Spec &spec) { spec.mask(causal(BottomRight)); }, probeOf(5, 2));
  expectFirstColumn(
      call, {0, 0, 0, 0, .5},
      {-infinity, -infinity, -infinity, std::log(1), std::log(2)});
}

Call merge(const Call &a, const Call &b) {
  Call merged = a;
  merged.resetOutputs();
  auto floats = [](const Tensor &tensor) {
    return static_cast<float *>(tensor.view.data);
  };
  runtime::Partial parts[] = {{floats(a.o), floats(a.lse)},
                              {floats(b.o), floats(b.lse)}};
  runtime::mergePartials(parts, 2, a.lse.view.numElements(),
                         a.v.view.extents[3], floats(merged.o),
                         floats(merged.lse));
  return merged;
}

/// The same call with keys [first, first + count) only.
Call withKeys(const Call &call, int64_t first, int64_t count) {
  Call part = call;
  part.k = call.k.slice(2, first, count);
  part.v = call.v.slice(2, first, count);
  part.resetOutputs();
  return part;
}

// The 4x4 example split after every key; a part of no keys changes no bit.
TEST(UserReports, Row04_MergedPartsAreTheWhole) {
  Shape shape = oneHead;
  shape.queries = shape.keys = 4;
  Call whole = k4Call(Element::F32, shape);
  Program program(Element::F32, shape, [](Spec &spec) { spec.scale(1); });
  program.run(whole);
  for (int64_t cut = 0; cut <= 4; ++cut) {
    Call first = withKeys(whole, 0, cut),
         second = withKeys(whole, cut, 4 - cut);
    program.run(first);
    program.run(second);
    if (cut == 2) {
      expectFirstColumn(first, {1.182426, 1.047426, 1.817574, 1.320821},
                        {.701413, 1.048587, 1.201413, .636871});
      expectFirstColumn(second, {3.268941, 3.119203, 3.731059, 3.377541},
                        {2.313262, 4.126928, -.686738, 1.474077});
    }
    Call merged = merge(first, second);
    expectFirstColumn(merged,
                      {2.921886758, 3.028024893, 2.069112232, 2.756157284},
                      {2.495181898, 4.171935393, 1.342349582, 1.833790201});
    if (cut == 0)
      expectSameBits(merged, second);
    if (cut == 4)
      expectSameBits(merged, first);
  }
  Call none = withKeys(whole, 0, 0), alsoNone = withKeys(whole, 2, 0);
  program.run(none);
  program.run(alsoNone);
  Call merged = merge(none, alsoNone);
  expectFirstColumn(merged, {0, 0, 0, 0},
                    {-infinity, -infinity, -infinity, -infinity});
}

// Ring attention: a causal mask over shards of the keys, most rows of a late
// shard without a key, merged shard after shard.
TEST(UserReports, Row04_RingOfCausalShards) {
  checkRow("Row04");
  Shape shape = {200, 200, 2, 4, 2, 24, 24};
  Call whole = randomCall(Element::F32, shape);
  Program causalWhole(Element::F32, shape,
                      [](Spec &spec) { spec.mask(causal(TopLeft)); });
  Program shard(Element::F32, shape, [](Spec &spec) {
    Index first = spec.param("first", i32);
    spec.mask(causal(TopLeft).shift(0, first));
  });
  Call merged;
  for (int64_t first = 0; first < 200; first += 50) {
    Call part = withKeys(whole, first, 50);
    part.captures = {int32_t(first)};
    shard.run(part);
    merged = first == 0 ? part : merge(merged, part);
  }
  expectNear(merged, causalWhole.evaluate(whole));
}

TEST(UserReports, Row25_EmptyDocuments) {
  checkRow("Row25");
  auto documents = [](Spec &spec) {
    auto ids = spec.buffer("ids", i32, spec.queryLength());
    spec.mask(document(ids) && causal(TopLeft));
  };
  Call call = probeOf(6, 6);
  call.captures = {vectorOf(Element::I32, {1, 1, 2, 4, 4, 4})};
  expectFirstColumn(run(documents, call), {0, .5, 2, 3, 3.5, 4},
                    {0, std::log(2), 0, 0, std::log(2), std::log(3)});

  // Documents end at 0, 0, 1208, 2048 and 2048.
  call = probeOf(2048, 2048);
  std::vector<int64_t> ids(2048, 1);
  std::fill(ids.begin() + 1208, ids.end(), 2);
  call.captures = {vectorOf(Element::I32, ids)};
  call = run(documents, call);
  expectNear(call,
             uniformTruth(call, [&](int64_t, int64_t, int64_t i, int64_t j) {
               return ids[i] == ids[j] && i >= j;
             }));
}

// Calls without batch, queries or keys write what there is and nothing else.
TEST(UserReports, Row25_NothingToDo) {
  for (auto [batch, queries, keys] :
       {std::tuple(0, 5, 5), {2, 0, 2538}, {2, 3, 0}, {0, 0, 0}}) {
    Shape shape = {queries, keys, batch, 2, 1, 64, 64};
    Call call = run([](Spec &spec) { spec.mask(causal(BottomRight)); },
                    randomCall(Element::BF16, shape));
    for (double value : call.o.values())
      ASSERT_EQ(value, 0);
    for (double value : call.lse.values())
      ASSERT_EQ(value, -infinity);
  }
}

} // namespace
