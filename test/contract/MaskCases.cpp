// Alignment of causal masks and windows, their bounds, and the soft cap.
#include "test/contract/RowCases.h"

#include <limits>

using namespace qm;
using namespace qm::contract;

using Extents = std::vector<std::pair<int64_t, int64_t>>;

static constexpr int64_t noBound = std::numeric_limits<int32_t>::max();

/// i + d - left <= j <= i + d + right at each of the extents.
static RowCase windowCase(const std::string &name, const Describe &describe,
                          int64_t left, int64_t right, Alignment alignment,
                          const Extents &extents, Captures captures = {}) {
  RowCase result{name, 2, 1, describe};
  for (auto [queries, keys] : extents) {
    int64_t d = alignment == BottomRight ? keys - queries : 0;
    result.calls.push_back(probe(
        queries, keys,
        [=](int64_t, int64_t, int64_t i, int64_t j) {
          return i + d - left <= j && j <= i + d + right;
        },
        1, captures));
  }
  return result;
}

static void maskWith(std::vector<RowCase> &list, const std::string &name,
                     const Mask &mask, int64_t left, int64_t right,
                     Alignment alignment, const Extents &extents) {
  list.push_back(windowCase(
      name, [=](Spec &spec) { spec.mask(mask); }, left, right, alignment,
      extents));
}

static RowCase runTimeBounds() {
  RowCase result{"Row20_RunTimeBounds", 2, 1, [](Spec &spec) {
                   Index left = spec.param("left", i32);
                   Index right = spec.param("right", i32);
                   spec.mask(slidingWindow(left, right, TopLeft));
                 }};
  // One key before, self, a band behind, a band ahead, and nothing.
  for (auto [left, right] :
       {std::pair(1, 0), {0, 0}, {9, -3}, {-1, 5}, {2, -3}}) {
    RowCall call = probe(
        80, 90,
        [left = left, right = right](int64_t, int64_t, int64_t i, int64_t j) {
          return i - left <= j && j <= i + right;
        },
        1, {int32_t(left), int32_t(right)});
    call.name += "_bounds" + std::to_string(result.calls.size());
    result.calls.push_back(call);
  }
  return result;
}

// Scores times 1000 reach +-1e4 and must saturate at the cap.
static RowCase softcapped(const std::string &name, float scale) {
  RowCase result{name, 2, 1, [=](Spec &spec) {
                   Float cap = spec.param("cap", f32);
                   spec.scale(scale).mask(causal(TopLeft));
                   spec.score([=](Score s, Batch, Head, Query, Key) {
                     return cap * tanh(s / cap);
                   });
                 }};
  // Scores near 0 decide lse where the others saturate, and few are: enough
  // rows that the yardstick's largest error is no accident.
  for (float cap : {30.f, 5.f}) {
    result.calls.push_back(random(520, 520, 2, {cap}));
    result.calls.back().name += "_cap" + std::to_string(int(cap));
  }
  return result;
}

static RowCase k4Softcap() {
  RowCase result{"Row23_K4Softcap", 2, 1, [](Spec &spec) {
                   spec.scale(1).mask(causal(TopLeft));
                   spec.score([](Score s, Batch, Head, Query, Key) {
                     return 1.f * tanh(s / 1.f);
                   });
                 }};
  result.calls.push_back({"4x4",
                          [](Element type, Shape shape) {
                            shape.queries = shape.keys = 4;
                            return k4Call(type, shape);
                          },
                          {}});
  return result;
}

std::vector<RowCase> qm::contract::maskCases() {
  std::vector<RowCase> list;
  Extents unequal = {{2, 5}, {1, 70}, {65, 200}, {200, 65}, {64, 128}};
  maskWith(list, "Row03_CausalTopLeft", causal(TopLeft), noBound, 0, TopLeft,
           unequal);
  maskWith(list, "Row03_CausalBottomRight", causal(BottomRight), noBound, 0,
           BottomRight, unequal);
  Extents windows = {{6, 6}, {100, 100}, {70, 200}, {200, 70}};
  maskWith(list, "Row18_WindowInclusive", slidingWindow(2, 0), 2, 0,
           BottomRight, windows);
  maskWith(list, "Row18_WindowBothSides", slidingWindow(70, 5), 70, 5,
           BottomRight, {{6, 6}, {150, 200}, {200, 150}});
  maskWith(list, "Row19_WindowAlone", slidingWindow(2, 0, TopLeft), 2, 0,
           TopLeft, windows);
  maskWith(list, "Row20_NegativeRight", slidingWindow(unbounded, -3), noBound,
           -3, BottomRight, {{6, 6}, {140, 140}, {60, 90}});
  maskWith(list, "Row20_WindowZero", slidingWindow(0, 0), 0, 0, BottomRight,
           {{6, 6}, {150, 150}, {3, 80}});
  list.push_back(runTimeBounds());
  Extents decode = {{1, 8}, {1, 300}, {3, 200}};
  maskWith(list, "Row22_DecodeBottomRight", slidingWindow(2, 0, BottomRight), 2,
           0, BottomRight, decode);
  maskWith(list, "Row22_DecodeTopLeft", slidingWindow(2, 0, TopLeft), 2, 0,
           TopLeft, decode);
  list.push_back(k4Softcap());
  list.push_back(softcapped("Row23_Softcap", 0.5f));
  list.push_back(softcapped("Row23_SoftcapSaturates", 1000.f));
  return list;
}
