// Rows without a key: removed, outside windows and padding, above the diagonal.
#include "test/contract/RowCases.h"

using namespace qm;
using namespace qm::contract;

static RowCase removedRow() {
  RowCase result{"Row01_RemovedRow", 1, 1, [](Spec &spec) {
                   Index removed = spec.param("removed", i32);
                   spec.mask(
                       [=](Batch, Head, Query i, Key) { return i != removed; });
                 }};
  for (auto [queries, keys, row] :
       {std::tuple(1024, 1024, 300), {5, 5, 0}, {130, 40, 129}})
    result.calls.push_back(probe(
        queries, keys,
        [row = row](int64_t, int64_t, int64_t i, int64_t) { return i != row; },
        1, {int32_t(row)}));
  return result;
}

static RowCase k4RowOne() {
  RowCase result{"Row01_K4RowOneEmpty", 2, 1, [](Spec &spec) {
                   spec.scale(1).mask(
                       [](Batch, Head, Query i, Key) { return i != 1; });
                 }};
  result.calls.push_back({"4x4",
                          [](Element type, Shape shape) {
                            shape.queries = shape.keys = 4;
                            return k4Call(type, shape);
                          },
                          {}});
  return result;
}

// A window that has left the padded keys behind sees nothing.
static RowCase windowInPadding() {
  RowCase result{"Row01_WindowInPadding", 2, 1, [](Spec &spec) {
                   auto lengths = spec.buffer("lengths", i32, spec.batch());
                   spec.mask(slidingWindow(3) && padding(lengths));
                 }};
  std::vector<int64_t> lengths = {5, 0, 64, 100};
  result.calls.push_back(probe(100, 100,
                               [=](int64_t b, int64_t, int64_t i, int64_t j) {
                                 return j < lengths[b] && i - 3 <= j && j <= i;
                               },
                               4, {vectorOf(Element::I32, lengths)}));
  return result;
}

static RowCase headOff() {
  RowCase result{"Row01_HeadOff", 4, 2, [](Spec &spec) {
                   spec.mask([](Batch, Head h, Query i, Key j) {
                     return h != 1 && i >= j;
                   });
                 }};
  for (int64_t extent : {8, 70})
    result.calls.push_back(
        probe(extent, extent, [](int64_t, int64_t h, int64_t i, int64_t j) {
          return h != 1 && i >= j;
        }));
  return result;
}

static RowCase nothing() {
  RowCase result{"Row01_NothingKept", 2, 1, [](Spec &spec) {
                   spec.mask([](Batch, Head, Query, Key) { return false; });
                 }};
  for (auto [queries, keys] : {std::pair(70, 90), {1, 1}})
    result.calls.push_back(
        probe(queries, keys,
              [](int64_t, int64_t, int64_t, int64_t) { return false; }));
  return result;
}

static RowCase noKeys() {
  RowCase result{"Row01_NoKeys", 2, 1, [](Spec &) {}};
  result.calls.push_back(
      probe(50, 0, [](int64_t, int64_t, int64_t, int64_t) { return true; }, 2));
  return result;
}

static RowCase firstRows() {
  RowCase result{"Row02_FirstRowsWithoutKeys", 2, 1,
                 [](Spec &spec) { spec.mask(causal(BottomRight)); }};
  for (auto [queries, keys] : {std::pair<int64_t, int64_t>(5, 2),
                               {300, 1},
                               {129, 64},
                               {70, 33},
                               {200, 199}})
    result.calls.push_back(
        probe(queries, keys,
              [d = keys - queries](int64_t, int64_t, int64_t i, int64_t j) {
                return i + d >= j;
              }));
  return result;
}

// A shard of the keys in ring attention: the rows before it have no key in it.
static RowCase keyShard() {
  RowCase result{
      "Row04_KeyShard", 2, 1, [](Spec &spec) {
        Index first = spec.param("first", i32);
        spec.mask([=](Batch, Head, Query i, Key j) { return i >= j + first; });
      }};
  for (int64_t first : {0, 64, 100})
    result.calls.push_back(probe(
        128, 64,
        [=](int64_t, int64_t, int64_t i, int64_t j) { return i >= j + first; },
        1, {int32_t(first)}));
  for (auto [at, call] : llvm::enumerate(result.calls))
    call.name += "_shard" + std::to_string(at);
  return result;
}

// Documents of 0, 2, 1, 0 and 3 tokens.
static RowCase documents() {
  RowCase result{"Row25_EmptyDocuments", 2, 1, [](Spec &spec) {
                   auto ids = spec.buffer("ids", i32, spec.queryLength());
                   spec.mask(document(ids) && causal(TopLeft));
                 }};
  std::vector<int64_t> ids = {1, 1, 2, 4, 4, 4};
  result.calls.push_back(probe(6, 6,
                               [=](int64_t, int64_t, int64_t i, int64_t j) {
                                 return ids[i] == ids[j] && i >= j;
                               },
                               1, {vectorOf(Element::I32, ids)}));
  return result;
}

/// Documents 0, 1, ... of these lengths, one id a position.
static std::vector<int64_t> idsOf(llvm::ArrayRef<int64_t> lengths) {
  std::vector<int64_t> ids;
  for (auto [id, length] : llvm::enumerate(lengths))
    ids.insert(ids.end(), length, id);
  return ids;
}

// Document 0 has queries and no keys, 1 keys and no queries, 3 neither.
static RowCase crossDocuments() {
  RowCase result{"Row25_CrossDocuments", 2, 1, [](Spec &spec) {
                   auto q = spec.buffer("q_ids", i32, spec.queryLength());
                   auto k = spec.buffer("k_ids", i32, spec.keyLength());
                   spec.mask(document(q, k));
                 }};
  std::vector<int64_t> q = idsOf({3, 0, 70, 0, 4}),
                       k = idsOf({0, 153, 5, 0, 90});
  result.calls.push_back(probe(
      q.size(), k.size(),
      [=](int64_t, int64_t, int64_t i, int64_t j) { return q[i] == k[j]; }, 1,
      {vectorOf(Element::I32, q), vectorOf(Element::I32, k)}));
  return result;
}

std::vector<RowCase> qm::contract::emptyRowCases() {
  return {removedRow(), k4RowOne(),      windowInPadding(), headOff(),
          nothing(),    noKeys(),        firstRows(),       keyShard(),
          documents(),  crossDocuments()};
}
