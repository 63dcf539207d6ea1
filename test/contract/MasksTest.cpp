// Reports 3, 18, 19, 20, 22 and 23: alignment and bounds of masks, soft cap.
#include "test/contract/RowCases.h"

#include "gtest/gtest.h"

#include <cmath>
#include <limits>

using namespace qm;
using namespace qm::contract;

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

/// A uniform probe of one f32 head under `mask`.
Call probeUnder(const Mask &mask, int64_t queries, int64_t keys) {
  Shape shape = {queries, keys, 1, 1, 1, 64, 64};
  Call call = uniformProbe(Element::F32, shape);
  Program program(Element::F32, shape, [&](Spec &spec) { spec.mask(mask); });
  program.run(call);
  return call;
}

/// O of the probe, and how many keys each row keeps.
void expectProbe(const Call &call, const std::vector<double> &o,
                 const std::vector<double> &counts) {
  std::vector<double> lse;
  for (double count : counts)
    lse.push_back(count == 0 ? -infinity : std::log(count));
  expectFirstColumn(call, o, lse);
}

/// Random data of several extents under both masks: the same bits.
void expectSameMask(const Mask &a, const Mask &b) {
  Shape shape = {1, 1, 1, 2, 1, 24, 24};
  Program first(Element::F32, shape, [&](Spec &spec) { spec.mask(a); });
  Program second(Element::F32, shape, [&](Spec &spec) { spec.mask(b); });
  for (auto [queries, keys] : {std::pair(6, 6), {150, 150}, {40, 170}}) {
    shape.queries = queries;
    shape.keys = keys;
    Call x = randomCall(Element::F32, shape), y = x;
    y.resetOutputs();
    first.run(x);
    second.run(y);
    expectSameBits(x, y);
  }
}

TEST(UserReports, Row03_CausalAlignmentIsExplicit) {
  checkRow("Row03");
  expectProbe(probeUnder(causal(TopLeft), 2, 5), {0, .5}, {1, 2});
  expectProbe(probeUnder(causal(BottomRight), 2, 5), {1.5, 2}, {4, 5});
}

TEST(UserReports, Row18_WindowBoundsAreInclusive) {
  checkRow("Row18");
  expectProbe(probeUnder(slidingWindow(2, 0), 6, 6), {0, .5, 1, 2, 3, 4},
              {1, 2, 3, 3, 3, 3});
  expectProbe(probeUnder(slidingWindow(1, 1), 6, 6), {.5, 1, 2, 3, 4, 4.5},
              {2, 3, 3, 3, 3, 2});
}

TEST(UserReports, Row18_WindowOfAllIsCausal) {
  expectSameMask(slidingWindow(169, 0), causal(BottomRight));
  expectSameMask(slidingWindow(unbounded, 0), causal(BottomRight));
}

TEST(UserReports, Row19_WindowAloneSeesNoFuture) {
  checkRow("Row19");
  for (Alignment alignment : {TopLeft, BottomRight})
    expectSameMask(slidingWindow(2, 0, alignment),
                   slidingWindow(2, unbounded, alignment) && causal(alignment));
}

TEST(UserReports, Row20_NegativeAndZeroBoundsAreMeant) {
  checkRow("Row20");
  expectProbe(probeUnder(slidingWindow(unbounded, -3), 6, 6),
              {0, 0, 0, 0, .5, 1}, {0, 0, 0, 1, 2, 3});
  expectProbe(probeUnder(slidingWindow(0, 0), 6, 6), {0, 1, 2, 3, 4, 5},
              {1, 1, 1, 1, 1, 1});
  expectProbe(probeUnder(slidingWindow(-1, 2), 6, 6),
              {1.5, 2.5, 3.5, 4.5, 5, 0}, {2, 2, 2, 2, 1, 0});
}

TEST(UserReports, Row22_DecodeStandsAtTheEnd) {
  checkRow("Row22");
  expectProbe(probeUnder(slidingWindow(2, 0, BottomRight), 1, 8), {6}, {3});
  expectProbe(probeUnder(slidingWindow(2, 0, TopLeft), 1, 8), {0}, {1});
  expectProbe(probeUnder(causal(BottomRight), 1, 8), {3.5}, {8});
}

TEST(UserReports, Row23_SoftcapIsCapTimesTanh) {
  checkRow("Row23");
  Shape shape = {4, 4, 1, 1, 1, 64, 64};
  auto capped = [](float cap) {
    return [=](Spec &spec) {
      spec.scale(1).mask(causal(TopLeft));
      if (cap > 0)
        spec.score([=](Score s, Batch, Head, Query, Key) {
          return cap * tanh(s / cap);
        });
    };
  };
  std::vector<Call> calls;
  for (float cap : {1.f, 0.f, 1e6f}) {
    Program program(Element::F32, shape, capped(cap));
    calls.push_back(k4Call(Element::F32, shape));
    program.run(calls.back());
  }
  expectFirstColumn(calls[0], {1, 1.151148465, 1.921155896, 2.716574470},
                    {.462117157, .925465134, 1.148351232, 1.729278366});
  // Without a cap, and with one so high that it does nothing.
  for (const Call &call : {calls[1], calls[2]})
    expectFirstColumn(call, {1, 1.047425873, 1.863822181, 2.756157284},
                      {.5, 1.048587352, 1.241311297, 1.833790201});
}

} // namespace
