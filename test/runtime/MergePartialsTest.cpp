// Joining attention over parts of the keys: golden numbers, parts without keys,
// and extremes.
#include "runtime/MergePartials.h"

#include "gtest/gtest.h"

#include <cmath>
#include <cstring>
#include <limits>
#include <vector>

using qm::runtime::mergePartials;
using qm::runtime::Partial;

namespace {

constexpr float infinity = std::numeric_limits<float>::infinity();
const float nan = std::nanf("");

struct Part {
  std::vector<float> o, lse;
};

Part merge(const std::vector<Part> &parts) {
  std::vector<Partial> partials;
  for (const Part &part : parts)
    partials.push_back({part.o.data(), part.lse.data()});
  size_t rows = parts.front().lse.size(), size = parts.front().o.size();
  Part merged{std::vector<float>(size, nan), std::vector<float>(rows, nan)};
  mergePartials(partials.data(), partials.size(), rows, size / rows,
                merged.o.data(), merged.lse.data());
  return merged;
}

void expectNear(const std::vector<float> &got, const std::vector<double> &want,
                double tolerance) {
  ASSERT_EQ(got.size(), want.size());
  for (size_t i = 0; i < got.size(); ++i)
    EXPECT_NEAR(got[i], want[i], tolerance) << i;
}

bool sameBits(const std::vector<float> &a, const std::vector<float> &b) {
  return a.size() == b.size() &&
         std::memcmp(a.data(), b.data(), a.size() * sizeof(float)) == 0;
}

// The 4x4 example of test/data/k4.json, keys {0, 1} and {2, 3}.
const Part k4First = {{1.182426f, 1.047426f, 1.817574f, 1.320821f},
                      {.701413f, 1.048587f, 1.201413f, .636871f}};
const Part k4Second = {{3.268941f, 3.119203f, 3.731059f, 3.377541f},
                       {2.313262f, 4.126928f, -.686738f, 1.474077f}};

TEST(MergePartials, GoldenNumbers) {
  Part merged = merge({k4First, k4Second});
  // The parts are given to six digits after the point.
  expectNear(merged.o, {2.921886758, 3.028024893, 2.069112232, 2.756157284},
             3e-6);
  expectNear(merged.lse, {2.495181898, 4.171935393, 1.342349582, 1.833790201},
             3e-6);
}

TEST(MergePartials, PartWithoutKeysChangesNothing) {
  std::vector<float> none(4, -infinity), zero(4, 0.0f), garbage(4, nan);
  for (const std::vector<float> &o : {zero, garbage}) {
    for (const Part &merged :
         {merge({k4First, {o, none}}), merge({{o, none}, k4First}),
          merge({{o, none}, k4First, {o, none}}), merge({k4First})}) {
      EXPECT_TRUE(sameBits(merged.o, k4First.o));
      EXPECT_TRUE(sameBits(merged.lse, k4First.lse));
    }
  }
}

TEST(MergePartials, NoKeysAtAllIsZeroAndMinusInfinity) {
  Part none = {{nan, 1.0f, 0.0f, 7.0f}, {-infinity, -infinity}};
  for (int count : {1, 2, 5}) {
    Part merged = merge(std::vector<Part>(count, none));
    EXPECT_TRUE(sameBits(merged.o, {0, 0, 0, 0}));
    EXPECT_TRUE(sameBits(merged.lse, {-infinity, -infinity}));
  }
}

// Each row has keys in other parts.
TEST(MergePartials, RowsAreIndependent) {
  Part a = {{1, 2, 3, 4}, {0, -infinity, 2, -infinity}};
  Part b = {{5, 6, 7, 8}, {0, 1, -infinity, -infinity}};
  Part merged = merge({a, b});
  expectNear(merged.o, {3, 6, 3, 0}, 1e-6);
  EXPECT_NEAR(merged.lse[0], std::log(2.0), 1e-7);
  EXPECT_EQ(merged.lse[1], 1);
  EXPECT_EQ(merged.lse[2], 2);
  EXPECT_EQ(merged.lse[3], -infinity);
}

TEST(MergePartials, ExtremesStayFinite) {
  // e^3e4 overflows in any format; only differences may count.
  Part merged = merge({{{1, 1}, {3e4f, -3e4f}}, {{3, 3}, {3e4f, -3e4f}}});
  expectNear(merged.o, {2, 2}, 1e-6);
  expectNear(merged.lse, {3e4 + std::log(2), -3e4 + std::log(2)}, 1e-3);
  // A part of no weight leaves the other as it is.
  merged = merge({{{1.25f}, {100}}, {{1e30f}, {-1e4f}}});
  EXPECT_EQ(merged.o[0], 1.25f);
  EXPECT_EQ(merged.lse[0], 100);
}

TEST(MergePartials, NaNOfAPartWithKeysShows) {
  EXPECT_TRUE(std::isnan(merge({{{1}, {nan}}, {{2}, {0}}}).lse[0]));
  EXPECT_TRUE(std::isnan(merge({{{1}, {0}}, {{2}, {nan}}}).o[0]));
  EXPECT_TRUE(std::isnan(merge({{{nan}, {0}}, {{2}, {0}}}).o[0]));
}

// Many parts of equal weight are their mean; the order of two is of no matter.
TEST(MergePartials, ManyParts) {
  std::vector<Part> parts;
  for (int p = 0; p < 1000; ++p)
    parts.push_back({{float(p)}, {0.5f}});
  Part merged = merge(parts);
  EXPECT_NEAR(merged.o[0], 499.5, 1e-4);
  EXPECT_NEAR(merged.lse[0], 0.5 + std::log(1000.0), 1e-6);
  EXPECT_TRUE(
      sameBits(merge({k4First, k4Second}).lse, merge({k4Second, k4First}).lse));
}

TEST(MergePartials, InPlace) {
  Part a = k4First, b = k4Second, expected = merge({a, b});
  Partial partials[] = {{a.o.data(), a.lse.data()}, {b.o.data(), b.lse.data()}};
  mergePartials(partials, 2, 4, 1, a.o.data(), a.lse.data());
  EXPECT_TRUE(sameBits(a.o, expected.o));
  EXPECT_TRUE(sameBits(a.lse, expected.lse));
}

} // namespace
