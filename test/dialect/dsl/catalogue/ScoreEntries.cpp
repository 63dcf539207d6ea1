//===- ScoreEntries.cpp - examples of score functions, and their meaning --===//
#include "test/dialect/dsl/catalogue/ScoreEntries.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <limits>

namespace qm::test {
namespace {

constexpr int queries = 40, keys = 48;

/// T5's bucket as the paper has it, with a logarithm.
int bucket(int distance, int buckets, int farthest) {
  int exact = buckets / 2;
  if (distance < exact)
    return std::max(distance, 0);
  double far = std::log(double(distance) / exact) /
               std::log(double(farthest) / exact) * (buckets - exact);
  return std::min(exact + static_cast<int>(far + 1e-9), buckets - 1);
}

double sandwichSum(int distance) {
  double sum = 0;
  for (int k = 0; k < 4; ++k)
    sum += std::cos(distance * std::pow(10000., -2. * k / 8));
  return sum;
}

} // namespace

#define QM_SCORE(example, value)                                               \
  ScoreEntry {                                                                 \
    std::string(#example).substr(0, std::string(#example).find('(')),          \
        #example, example,                                                     \
        [=](double s, int b, int h, int i, int j) -> double { return value; }  \
  }

void ScoreCaptures::fill(const char *name, std::vector<int64_t> shape) {
  Array &array = call.buffers[name];
  array.shape = std::move(shape);
  int64_t count = 1;
  for (int64_t extent : array.shape)
    count *= extent;
  for (int64_t at = 0; at < count; ++at)
    array.elements.push_back((at * 37 % 101 - 50) / 64.);
}

ScoreCaptures::ScoreCaptures() {
  spec.heads(4).kvHeads(2).headDim(64);
  call.batch = 2, call.heads = 4, call.kvHeads = 2;
  call.query = queries, call.key = keys;
  call.scalars["weight"] = {0, 0.75f};
  fill("slopes", {4});
  fill("per_batch", {2});
  fill("per_query", {queries});
  fill("table", {4, 17});
  fill("buckets", {32, 4});
  fill("rotary_q", {2, 4, queries, 3});
  fill("rotary_k", {2, 2, keys, 3});
  fill("bias", {2, 4, queries, keys});
  fill("shared", {4, queries, keys});
  fill("distance", {2, queries, keys});
  fill("edges", {3, 4, 5});
  fill("types", {2, queries, keys, 3});
  for (double &element : call.buffers["types"].elements)
    element = std::floor(std::abs(element) * 6); // 0 to 4
  for (double &element : call.buffers["distance"].elements)
    element = std::floor(std::abs(element) * 25); // 0 to 19; a table of 17
}

std::vector<ScoreEntry> ScoreCaptures::entries() {
  auto slope = [this](int h) { return at("slopes", h); };
  auto row = [this](int h, int column) { return at("table", h * 17 + column); };
  auto learned = [this](int n, int h) { return at("buckets", n * 4 + h); };
  auto pair = [this](const char *name, int plane, int i, int j) {
    return at(name, (plane * queries + i) * keys + j);
  };
  auto perBatchAt = [this](int b) { return at("per_batch", b); };
  auto perQueryAt = [this](int i) { return at("per_query", i); };
  auto path = [=, this](int b, int h, int i, int j) {
    int length = std::min(int(pair("distance", b, i, j)), 3);
    double sum = 0;
    for (int k = 0; k < length; ++k) {
      int type = int(at("types", ((b * queries + i) * keys + j) * 3 + k));
      sum += at("edges", (k * 4 + h) * 5 + type);
    }
    return length ? sum / length : 0;
  };
  auto rotary = [this](int b, int h, int i, int j) {
    double sum = 0;
    for (int d = 0; d < 3; ++d)
      sum += at("rotary_q", ((b * 4 + h) * queries + i) * 3 + d) *
             at("rotary_k", ((b * 2 + h / 2) * keys + j) * 3 + d);
    return sum;
  };
  const double inf = std::numeric_limits<double>::infinity();
  return {
      QM_SCORE(alibi(), s + (j - i) * std::exp2(-8. * (h + 1) / 4)),
      QM_SCORE(alibi(slopes), s + slope(h) * (j - i)),
      QM_SCORE(alibiBidirectional(slopes), s - slope(h) * std::abs(i + 8 - j)),
      QM_SCORE(alibiBidirectional(slopes, TopLeft),
               s - slope(h) * std::abs(i - j)),
      QM_SCORE(softcap(30), 30 * std::tanh(s / 30)),
      QM_SCORE(softcap(30, Accuracy::Approximate), 30 * std::tanh(s / 30)),
      QM_SCORE(softcap(weight), .75 * std::tanh(s / .75)),
      QM_SCORE(temperature(weight), .75 * s),
      QM_SCORE(temperature(slopes), slope(h) * s),
      QM_SCORE(relativePosition(), s + (i - j)),
      QM_SCORE(relativePosition(weight), s + .75 * (i - j)),
      QM_SCORE(relativeDistance(2), s + 2 * std::abs(i - j)),
      QM_SCORE(relativeTable(table, 8),
               s + row(h, std::clamp(i - j, -8, 8) + 8)),
      QM_SCORE(
          t5Bias(buckets),
          s + learned((j > i ? 16 : 0) + bucket(std::abs(i - j), 16, 128), h)),
      QM_SCORE(t5Bias(buckets, 32, 40, qm::Causal),
               s + learned(bucket(i - j, 32, 40), h)),
      QM_SCORE(headBias(slopes), s + slope(h)),
      QM_SCORE(batchBias(perBatch), s + perBatchAt(b)),
      QM_SCORE(denseBias(bias), s + pair("bias", b * 4 + h, i, j)),
      QM_SCORE(denseBias(shared), s + pair("shared", h, i, j)),
      QM_SCORE(dualBuffer(slopes, perQuery), s + slope(h) + perQueryAt(i)),
      QM_SCORE(sandwich(8), s + 4. / (8 * (h + 1)) * sandwichSum(i - j)),
      QM_SCORE(graphormerSpatial(table, distance),
               s + row(h, std::min(int(pair("distance", b, i, j)), 16))),
      QM_SCORE(graphormerEdge(edges, types, distance, 3), s + path(b, h, i, j)),
      QM_SCORE(addedDot(rotaryQ, rotaryK, 3, weight),
               s + .75 * rotary(b, h, i, j)),
      QM_SCORE(logActivation(0.5f), std::log(std::max(s, 0.) + .5)),
      QM_SCORE(squared(), s * s),
      QM_SCORE(maskAsScore(slidingWindow(4)),
               i + 8 - 4 <= j && j <= i + 8 ? s : -inf),
      QM_SCORE(causalAsScore(TopLeft), i >= j ? s : -inf),
      QM_SCORE(softcap(30).then(alibi(slopes)),
               30 * std::tanh(s / 30) + slope(h) * (j - i)),
      QM_SCORE(alibi(slopes).then(softcap(30)),
               30 * std::tanh((s + slope(h) * (j - i)) / 30)),
  };
}

} // namespace qm::test
