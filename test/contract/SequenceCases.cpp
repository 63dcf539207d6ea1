// Packed and padded sequences of different lengths, in self and cross
// attention: empty ones, masks in the coordinates of each sequence, NaN past a
// length, rows that belong to no sequence.
#include "test/contract/RowCases.h"

#include <algorithm>
#include <cmath>
#include <numeric>

using namespace qm;
using namespace qm::contract;

using Lengths = std::vector<int64_t>;

static Lengths startsOf(const Lengths &lengths) {
  Lengths starts{0};
  for (int64_t length : lengths)
    starts.push_back(starts.back() + length);
  return starts;
}

static int64_t total(const Lengths &lengths) {
  return std::accumulate(lengths.begin(), lengths.end(), int64_t(0));
}

/// The sequence that a token is of.
static int64_t sequenceOf(const Lengths &starts, int64_t token) {
  return std::upper_bound(starts.begin(), starts.end(), token) -
         starts.begin() - 1;
}

/// A call with tokens outermost in memory.
static RowCall packed(RowCall call, const Lengths &queries,
                      const Lengths &keys) {
  call.make = [make = call.make, queries, keys](Element type, Shape shape) {
    Call made = make(type, shape);
    for (Tensor *tensor : {&made.q, &made.k, &made.v, &made.o})
      *tensor = tokensOutermost(*tensor);
    made.captures.insert(made.captures.begin(),
                         {vectorOf(Element::I32, startsOf(queries)),
                          vectorOf(Element::I32, startsOf(keys))});
    return made;
  };
  call.name = std::to_string(queries.size()) + "of" + call.name;
  return call;
}

/// keep(sequence, head, i, j, queries, keys), in the coordinates of a sequence.
using KeepInside =
    std::function<bool(int64_t, int64_t, int64_t, int64_t, int64_t, int64_t)>;

static RowCall packedProbe(const Lengths &queries, const Lengths &keys,
                           KeepInside keep, Captures captures = {}) {
  Lengths queryStarts = startsOf(queries), keyStarts = startsOf(keys);
  Keep keepTokens = [=](int64_t, int64_t h, int64_t i, int64_t j) {
    int64_t s = sequenceOf(queryStarts, i);
    return sequenceOf(keyStarts, j) == s &&
           keep(s, h, i - queryStarts[s], j - keyStarts[s], queries[s],
                keys[s]);
  };
  return packed(probe(total(queries), total(keys), keepTokens, 1, captures),
                queries, keys);
}

/// Compared with the oracle; `unused` tokens follow the last sequence.
static RowCall packedRandom(const Lengths &queries, const Lengths &keys,
                            Captures captures = {}, int64_t unused = 0) {
  return packed(random(total(queries) + unused, total(keys) + unused, 1,
                       std::move(captures)),
                queries, keys);
}

static const Lengths uneven = {300, 1, 0, 129, 64, 0, 257, 17};

/// Around half a query tile and a whole one, where some of a tile's warps have
/// no row or have one; the same lengths in another order.
static const Lengths halves = {34, 64, 65, 1, 127, 128, 129, 0, 34, 192, 193};
static const Lengths shuffled = {193, 1, 64, 129, 0, 128, 34, 65, 127, 34, 192};

static RowCase emptySequences() {
  RowCase result{"Row25_EmptySequences", 2, 1,
                 [](Spec &spec) { spec.packed().mask(causal(TopLeft)); }};
  auto keep = [](int64_t, int64_t, int64_t i, int64_t j, int64_t, int64_t) {
    return i >= j;
  };
  result.calls = {
      packedProbe({0, 2, 1, 0, 3}, {0, 2, 1, 0, 3}, keep),
      packedProbe({0, 120, 84, 0}, {0, 120, 84, 0}, keep),
      packedProbe({0, 3, 0}, {253, 3, 9}, keep), // keys without queries
      packedProbe({5, 130, 2}, {0, 0, 2}, keep), // queries without keys
      packedRandom({0, 0, 0, 40}, {0, 0, 0, 40})};
  return result;
}

static RowCase bottomRight() {
  RowCase result{"Row25_BottomRightOfEachSequence", 4, 2, [](Spec &spec) {
                   Index window = spec.param("window", i32);
                   spec.packed().mask(causal(BottomRight) &&
                                      slidingWindow(window));
                 }};
  const Lengths queries = {3, 0, 64, 1, 130, 200},
                keys = {10, 4, 200, 513, 70, 200};
  for (int32_t window : {100000, 33})
    result.calls.push_back(packedProbe(
        queries, keys,
        [=](int64_t, int64_t, int64_t i, int64_t j, int64_t q, int64_t k) {
          int64_t distance = i + k - q - j;
          return distance >= 0 && distance <= window;
        },
        {window}));
  result.calls.back().name += "w33";
  return result;
}

/// Masks, scores and captures see indices of the sequence, and its number.
static RowCase relativeCoordinates() {
  RowCase result{"Row62_RelativeCoordinates", 2, 1, [](Spec &spec) {
                   auto stride = spec.buffer("stride", i32, spec.batch());
                   auto bias = spec.buffer("bias", f32, dynamic);
                   spec.packed();
                   spec.score([=](Score s, Batch, Head h, Query i, Key j) {
                     return s + bias[i] * 0.125f - 0.01f * (j - i) + h;
                   });
                   spec.mask([=, &spec](Batch b, Head, Query i, Key j) {
                     return (i + j) % stride[b] == 0 ||
                            j + 3 > spec.keyLength();
                   });
                 }};
  Lengths strides(uneven.size());
  for (size_t at = 0; at < strides.size(); ++at)
    strides[at] = at % 3 + 1;
  Tensor bias(Element::F32, {300});
  for (int64_t at = 0; at < 300; ++at)
    storeFloat(bias.view, at, std::sin(double(at)));
  result.calls = {
      packedRandom(uneven, uneven, {vectorOf(Element::I32, strides), bias}, 5)};
  return result;
}

static RowCase manyDocuments() {
  RowCase result{"Row62_ManyDocuments", 1, 1, [](Spec &spec) {
                   spec.packed().mask([](Batch, Head, Query i, Key j) {
                     return i >= j && (i - j) % 3 != 1;
                   });
                 }};
  auto keep = [](int64_t, int64_t, int64_t i, int64_t j, int64_t, int64_t) {
    return i >= j && (i - j) % 3 != 1;
  };
  Lengths few(60, 17), many(200, 17);
  result.calls = {packedProbe(few, few, keep), packedRandom(many, many)};
  return result;
}

static RowCase withoutMask() {
  RowCase result{"Row28_NothingLeaksBetweenSequences", 4, 2,
                 [](Spec &spec) { spec.packed(); }};
  auto keep = [](int64_t, int64_t, int64_t, int64_t, int64_t, int64_t) {
    return true;
  };
  const Lengths documents = {9, 8, 12, 8, 12};
  result.calls = {packedProbe(documents, documents, keep),
                  packedProbe(uneven, {17, 3, 2, 0, 64, 128, 300, 1}, keep),
                  packedRandom(uneven, uneven, {}, 40),
                  packedRandom(halves, shuffled, {}, 7)};
  return result;
}

/// NaN in q, k and v past the lengths of each batch entry; rows of O and lse
/// there stay as they were.
static RowCall padded(RowCall call, const Lengths &queries,
                      const Lengths &keys) {
  call.make = [make = call.make, queries, keys](Element type, Shape shape) {
    Call made = make(type, shape);
    for (auto [tensor, lengths] :
         {std::pair(&made.q, &queries), {&made.k, &keys}, {&made.v, &keys}})
      for (size_t b = 0; b < lengths->size(); ++b) {
        int64_t length = (*lengths)[b], extent = tensor->view.extents[2];
        tensor->slice(0, b, 1)
            .slice(2, length, extent - length)
            .fill(std::nan(""));
      }
    made.captures.insert(
        made.captures.begin(),
        {vectorOf(Element::I32, queries), vectorOf(Element::I32, keys)});
    return made;
  };
  call.name += "l" + std::to_string(queries[0]);
  return call;
}

static RowCase paddedBatch(bool masked) {
  RowCase result{masked ? "Row28_PaddedCausal" : "Row28_Padded", 4, 2,
                 [masked](Spec &spec) {
                   spec.padded();
                   if (masked)
                     spec.mask(causal(BottomRight));
                 }};
  const Lengths queries = {5, 0, 200, 70}, keys = {128, 30, 0, 64};
  result.calls = {padded(random(200, 128, 4), queries, keys),
                  padded(random(70, 300, 2), {70, 69}, {300, 65})};
  return result;
}

std::vector<RowCase> qm::contract::sequenceCases() {
  return {emptySequences(), bottomRight(), relativeCoordinates(),
          manyDocuments(),  withoutMask(), paddedBatch(false),
          paddedBatch(true)};
}
