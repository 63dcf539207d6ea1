// Lengths that no tile divides, caches that hold NaN past their length, buffers
// that end where the sequence ends, and the base of lse.
#include "test/contract/RowCases.h"

#include <cmath>

using namespace qm;
using namespace qm::contract;

const Keep always = [](int64_t, int64_t, int64_t, int64_t) { return true; };

static RowCase naturalLse() {
  RowCase result{"Row05_NaturalLse", 2, 1, [](Spec &) {}};
  for (int64_t keys : {8, 1, 1000})
    result.calls.push_back(probe(3, keys, always));
  result.calls.push_back(random(70, 150, 2));
  return result;
}

// A score function keeps the exponent from absorbing the scale.
static RowCase naturalLseOfScore() {
  RowCase result{"Row05_NaturalLseOfScore", 2, 1, [](Spec &spec) {
                   spec.score([](Score s, Batch, Head, Query i, Key j) {
                     return s + 0.25f * (j - i);
                   });
                 }};
  result.calls.push_back(random(70, 150, 2));
  return result;
}

// Scores far below 0: were padding lanes 0 and not -inf, they would outweigh
// every key.
static RowCase shifted(float shift) {
  RowCase result{
      "Row07_ScoresFarBelowZero", 2, 1, [](Spec &spec) {
        Float shift = spec.param("shift", f32);
        spec.score([=](Score s, Batch, Head, Query, Key) { return s + shift; });
      }};
  result.name += std::to_string(int(-shift));
  for (auto [queries, keys] : {std::pair<int64_t, int64_t>(1, 128),
                               {64, 64},
                               {192, 192},
                               {704, 704}}) {
    result.calls.push_back(probe(queries, keys, always, 1, {shift}));
    result.calls.back().shift = shift;
  }
  // At -200 a score is rounded to 2^-17, which is most of the error: over few
  // rows the yardstick is low by chance (f32: 0.5 to 0.9 of the bound over 70
  // rows, 0.4 to 0.7 over 520).
  result.calls.push_back(random(520, 150, 1, {shift}));
  return result;
}

/// Makes K and V views of caches of `capacity` rows, NaN past `lengths[b]`; the
/// views end at the longest length if `cut`.
static void makeCache(Call &call, int64_t capacity,
                      llvm::ArrayRef<int64_t> lengths, bool cut) {
  for (Tensor *tensor : {&call.k, &call.v}) {
    llvm::SmallVector<int64_t, 4> extents = tensor->view.extents;
    extents[2] = capacity;
    Tensor cache(tensor->view.dtype, extents);
    cache.fill(std::nan(""));
    for (int64_t b = 0; b < extents[0]; ++b)
      copy(tensor->slice(0, b, 1).slice(2, 0, lengths[b]),
           cache.slice(0, b, 1).slice(2, 0, lengths[b]));
    *tensor = cut ? cache.slice(2, 0, tensor->view.extents[2]) : cache;
  }
}

// The view ends where the cache is used up.
static RowCase pastTheView() {
  RowCase result{"Row08_NaNPastTheLength", 2, 1, [](Spec &) {}};
  for (int64_t length : {37, 1, 32, 48, 64, 96, 127}) {
    RowCall call = probe(9, length, always);
    call.make = [make = call.make, length](Element type, Shape shape) {
      Call call = make(type, shape);
      makeCache(call, 128, {length}, /*cut=*/true);
      return call;
    };
    result.calls.push_back(call);
  }
  return result;
}

// Several lengths in a batch: the mask says where each ends.
static RowCase lengthsInOneBatch() {
  RowCase result{"Row08_LengthsInOneBatch", 2, 1, [](Spec &spec) {
                   auto lengths = spec.buffer("lengths", i32, spec.batch());
                   spec.mask(padding(lengths));
                 }};
  for (std::vector<int64_t> lengths :
       {std::vector<int64_t>{32, 64, 96, 48}, {37, 0, 128, 1}}) {
    RowCall call = probe(
        9, 128,
        [=](int64_t b, int64_t, int64_t, int64_t j) { return j < lengths[b]; },
        4, {vectorOf(Element::I32, lengths)});
    call.name = "lengths" + std::to_string(lengths[0]);
    call.make = [make = call.make, lengths](Element type, Shape shape) {
      Call call = make(type, shape);
      makeCache(call, 128, lengths, /*cut=*/false);
      return call;
    };
    result.calls.push_back(call);
  }
  return result;
}

static RowCase tails() {
  RowCase result{"Row09_TailIsMasked", 2, 1, [](Spec &) {}};
  for (int64_t extent : {1, 9, 12, 37, 63, 65, 129, 137, 255, 257})
    result.calls.push_back(probe(extent, extent, always));
  return result;
}

static RowCase flags() {
  RowCase result{"Row11_FlagsOfLengthS", 1, 1, [](Spec &spec) {
                   auto keep = spec.buffer("keep", i1, spec.keyLength());
                   spec.mask(
                       [=](Batch, Head, Query, Key j) { return keep[j]; });
                 }};
  for (int64_t keys : {2046, 100, 65}) {
    std::vector<int64_t> values(keys);
    for (int64_t j = 0; j < keys; ++j)
      values[j] = j % 3 != 1;
    result.calls.push_back(probe(
        5, keys,
        [=](int64_t, int64_t, int64_t, int64_t j) { return values[j] != 0; }, 1,
        {vectorOf(Element::I8, values)}));
  }
  return result;
}

// The key after this one, and the query before it: past both ends of a buffer.
static RowCase neighbours() {
  RowCase result{"Row11_NeighboursOutside", 1, 1, [](Spec &spec) {
                   auto next = spec.buffer("next", i32, spec.keyLength());
                   auto before = spec.buffer("before", i32, spec.queryLength());
                   spec.mask([=](Batch, Head, Query i, Key j) {
                     return next[Key(j + 1)] > 0 && before[Query(i - 1)] > 0;
                   });
                 }};
  for (auto [queries, keys] :
       {std::pair<int64_t, int64_t>(70, 130), {5, 2046}}) {
    std::vector<int64_t> next(keys), before(queries);
    for (int64_t j = 0; j < keys; ++j)
      next[j] = j % 5 != 2;
    for (int64_t i = 0; i < queries; ++i)
      before[i] = i % 4 != 1;
    result.calls.push_back(probe(
        queries, keys,
        [=](int64_t, int64_t, int64_t i, int64_t j) {
          return next[std::min(j + 1, keys - 1)] > 0 &&
                 before[std::max<int64_t>(i - 1, 0)] > 0;
        },
        1, {vectorOf(Element::I32, next), vectorOf(Element::I32, before)}));
  }
  return result;
}

// Documents of 1, 4, 9, ... 64 tokens and what is left of 240.
static RowCase squares() {
  RowCase result{"Row11_DocumentsOfSquares", 2, 1, [](Spec &spec) {
                   auto ids = spec.buffer("ids", i32, spec.queryLength());
                   spec.mask(document(ids) && causal(TopLeft));
                 }};
  std::vector<int64_t> ids;
  for (int64_t root = 1; root <= 10; ++root)
    ids.insert(ids.end(), root * root, root);
  ids.resize(240);
  result.calls.push_back(probe(240, 240,
                               [=](int64_t, int64_t, int64_t i, int64_t j) {
                                 return ids[i] == ids[j] && i >= j;
                               },
                               1, {vectorOf(Element::I32, ids)}));
  return result;
}

std::vector<RowCase> qm::contract::lengthCases() {
  return {naturalLse(),  naturalLseOfScore(),
          shifted(-122), shifted(-200),
          pastTheView(), lengthsInOneBatch(),
          tails(),       flags(),
          neighbours(),  squares()};
}
