// The numerics contract (README.md), one test a line.
#include "test/contract/GuardedMemory.h"
#include "test/contract/RowCases.h"

#include "gtest/gtest.h"

#include <cmath>
#include <limits>

using namespace qm;
using namespace qm::contract;

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

Describe masked(const Mask &mask) {
  return [=](Spec &spec) { spec.mask(mask); };
}
void unitScale(Spec &spec) { spec.scale(1); }

/// Row `i` of one head: q = value in column `column`.
void set(const Tensor &tensor, int64_t row, int64_t column, double value) {
  storeFloat(tensor.view, tensor.view.offset({0, 0, row, column}), value);
}

Call zeros(Element type, const Shape &shape) {
  Call call = uniformProbe(type, shape);
  call.k.fill(0);
  return call;
}

// Scores 256.5 and 256 are the same in bf16.
TEST(Contract, ScoresAreF32) {
  Shape shape = {1, 2, 1, 1, 1, 64, 64};
  for (Element type : {Element::BF16, Element::F16}) {
    Program program(type, shape, unitScale);
    Call call = zeros(type, shape);
    set(call.q, 0, 0, 16);
    set(call.q, 0, 1, 1);
    set(call.k, 0, 0, 16);
    set(call.k, 1, 0, 16);
    set(call.k, 1, 1, 0.5);
    program.run(call);
    EXPECT_NEAR(call.lse.values()[0], 256.5 + std::log1p(std::exp(-0.5)), 1e-4);
    double weight = 1 / (1 + std::exp(-0.5));
    EXPECT_NEAR(call.o.values()[0], weight, 2 * unitRoundoff(type));
  }
}

// A sum in bf16 stays at 256, one in f16 at 2048.
TEST(Contract, StatisticsAndAccumulatorsAreF32) {
  Shape shape = {1, 5000, 1, 1, 1, 64, 64};
  for (Element type : {Element::BF16, Element::F16}) {
    Program program(type, shape, [](Spec &) {});
    Call call = uniformProbe(type, shape);
    call.v.fill(1);
    program.run(call);
    EXPECT_NEAR(call.lse.values()[0], std::log(5000.0), 4e-6);
    for (double value : call.o.values())
      EXPECT_EQ(value, 1);
  }
}

// Weights 1 and 1 - e, where e is a quarter of a unit in the last place: with P
// rounded they are equal and O = (1 - 1) / 2; with P in f32, O is about e / 2.
TEST(Contract, PIsRoundedToTheInputType) {
  Shape shape = {1, 2, 1, 1, 1, 64, 64};
  for (auto [type, e] :
       {std::pair(Element::BF16, 0x1p-10), {Element::F16, 0x1p-13}}) {
    Call call = zeros(type, shape);
    set(call.q, 0, 0, 1);
    set(call.k, 1, 0, std::log1p(-e));
    call.v.slice(2, 0, 1).fill(1);
    call.v.slice(2, 1, 1).fill(-1);
    Call wide = call;
    wide.resetOutputs();
    Program(type, shape, unitScale).run(call);
    Program::Options options;
    options.overrides = {"precision.p=f32"};
    Program(type, shape, unitScale, options).run(wide);
    EXPECT_EQ(call.o.values()[0], 0);
    EXPECT_NEAR(wide.o.values()[0], e / 2, e / 16);
    // The denominator is summed before the rounding.
    EXPECT_NEAR(call.lse.values()[0], std::log(2 - e), 5e-7);
  }
}

TEST(Contract, LseIsNaturalLogarithm) {
  Shape shape = {1, 8, 1, 1, 1, 17, 17};
  Call call = uniformProbe(Element::F32, shape);
  Program(Element::F32, shape, [](Spec &) {}).run(call);
  EXPECT_NEAR(call.lse.values()[0], 2.0794415, 5e-7);
}

TEST(Contract, RowWithoutKeyIsZeroAndMinusInfinity) {
  Shape shape = {3, 40, 1, 1, 1, 17, 17};
  Call call = randomCall(Element::F32, shape);
  Program(Element::F32, shape,
          masked(custom([](Batch, Head, Query i, Key) { return i != 1; })))
      .run(call);
  std::vector<double> o = call.o.values(), lse = call.lse.values();
  for (int64_t c = 0; c < 17; ++c)
    EXPECT_EQ(o[17 + c], 0);
  EXPECT_EQ(lse[1], -infinity);
  EXPECT_TRUE(std::isfinite(lse[0]) && std::isfinite(lse[2]));
}

// All scores are far below 0: a padding lane with score 0, or with a finite
// sentinel, would outweigh every key.
TEST(Contract, PaddingIsMinusInfinity) {
  for (float shift : {-122.f, -1000.f, -1e30f}) {
    Shape shape = {1, 1, 1, 1, 1, 64, 64};
    Program program(Element::BF16, shape, [=](Spec &spec) {
      spec.score([=](Score s, Batch, Head, Query, Key) { return s + shift; });
    });
    for (int64_t keys : {1, 5, 128, 130}) {
      shape.keys = keys;
      Call call = uniformProbe(Element::BF16, shape);
      program.run(call);
      double lse = shift + std::log(double(keys));
      EXPECT_NEAR(call.lse.values()[0], lse, std::fabs(lse) * 0x1p-22);
      double mean = (keys - 1) / 2.0;
      EXPECT_NEAR(call.o.values()[0], mean, mean * 0x1p-8);
    }
  }
}

TEST(Contract, KeysBeyondTheLengthAreNeverUsed) {
  Shape shape = {9, 37, 1, 2, 1, 64, 64};
  Program program(Element::BF16, shape, [](Spec &) {});
  Call plain = randomCall(Element::BF16, shape), cached = plain;
  for (Tensor *tensor : {&cached.k, &cached.v}) {
    Tensor cache(Element::BF16, {1, 1, 128, 64});
    cache.fill(std::nan(""));
    Tensor used = cache.slice(2, 0, 37);
    copy(*tensor, used);
    *tensor = used;
  }
  cached.resetOutputs();
  program.run(plain);
  program.run(cached);
  expectSameBits(plain, cached);
}

void expectUniform(const Mask &mask, int64_t queries, int64_t keys,
                   const Keep &keep) {
  Shape shape = {queries, keys, 1, 2, 1, 17, 17};
  Call call = uniformProbe(Element::F32, shape);
  Program(Element::F32, shape, masked(mask)).run(call);
  expectNear(call, uniformTruth(call, keep));
}

TEST(Contract, WindowsAreInclusive) {
  expectUniform(slidingWindow(3, 2, TopLeft), 90, 90,
                [](int64_t, int64_t, int64_t i, int64_t j) {
                  return i - 3 <= j && j <= i + 2;
                });
}

TEST(Contract, CausalAlignmentIsTheCallers) {
  for (auto [queries, keys] : {std::pair<int64_t, int64_t>(20, 90), {90, 20}}) {
    expectUniform(
        causal(TopLeft), queries, keys,
        [](int64_t, int64_t, int64_t i, int64_t j) { return i >= j; });
    expectUniform(causal(BottomRight), queries, keys,
                  [d = keys - queries](int64_t, int64_t, int64_t i, int64_t j) {
                    return i + d >= j;
                  });
  }
}

// (i - j) / 4 = -1 and (i - j) mod 4 = 3 for j = i + 1 only; rounding towards
// zero would keep nothing.
TEST(Contract, DivisionAndRemainderRoundDown) {
  expectUniform(custom([](Batch, Head, Query i, Key j) {
                  return (i - j) / 4 == -1 && (i - j) % 4 == 3;
                }),
                70, 70, [](int64_t, int64_t, int64_t i, int64_t j) {
                  return j == i + 1;
                });
  expectUniform(custom([](Batch, Head, Query i, Key j) {
                  return (i - j) % -3 == -2 && (j - i) / -7 == 0;
                }),
                70, 70, [](int64_t, int64_t, int64_t i, int64_t j) {
                  // Floor: the remainder has the divisor's sign, and a quotient
                  // of 0 means -7 < j - i <= 0.
                  return (i - j) % 3 == 1 && j - i <= 0 && j - i > -7;
                });
}

TEST(Contract, KvHeadIsFloorOfHeadByGroup) {
  for (auto [heads, kvHeads] : {std::pair<int64_t, int64_t>(6, 2), {35, 5}}) {
    Shape shape = {2, 20, 1, heads, kvHeads, 17, 17};
    Call call = uniformProbe(Element::F32, shape);
    for (int64_t g = 0; g < kvHeads; ++g)
      call.v.slice(1, g, 1).fill(10 * g);
    Program(Element::F32, shape, [](Spec &) {}).run(call);
    for (int64_t h = 0; h < heads; ++h)
      for (double value : call.o.slice(1, h, 1).values())
        EXPECT_EQ(value, 10 * (h / (heads / kvHeads)));
  }
}

/// Moves a tensor to sparse memory where dimension `dim` has `stride`.
Tensor spread(const Tensor &from, unsigned dim, int64_t stride,
              std::vector<std::unique_ptr<SparseMemory>> &memory) {
  TensorView view = from.view;
  view.strides[dim] = stride;
  int64_t last = 0;
  for (unsigned at = 0; at < view.rank(); ++at)
    last += (view.extents[at] - 1) * view.strides[at];
  EXPECT_GT(last, int64_t(1) << 31);
  memory.push_back(std::make_unique<SparseMemory>(
      (last + 1) * runtime::bytesPerElement(view.dtype)));
  view.data = memory.back()->base;
  Tensor result(from, view);
  copy(from, result);
  return result;
}

// Element offsets past 2^31 along each dimension of each tensor.
TEST(Contract, AddressesHave64Bits) {
  Shape shape = {40, 50, 2, 2, 2, 64, 64};
  Program program(Element::BF16, shape, masked(causal(BottomRight)));
  Call plain = randomCall(Element::BF16, shape);
  program.run(plain);
  for (unsigned dim : {0, 1, 2}) {
    Call far = plain;
    far.resetOutputs();
    std::vector<std::unique_ptr<SparseMemory>> memory;
    for (Tensor *tensor : {&far.q, &far.k, &far.v, &far.o, &far.lse}) {
      int64_t steps = tensor->view.extents[dim] - 1;
      *tensor = spread(*tensor, dim, (int64_t(1) << 31) / steps + 64, memory);
    }
    program.run(far);
    expectSameBits(plain, far);
  }
}

// A mask table of 46400 x 46400 bytes has more than 2^31 entries.
TEST(Contract, BuffersHave64BitAddresses) {
  Shape shape = {8, 40, 1, 1, 1, 17, 17};
  int64_t extent = 46400, first = 46351;
  SparseMemory memory(extent * extent);
  Program program(Element::F32, shape, [&](Spec &spec) {
    auto table = spec.buffer("table", i8, dynamic, dynamic);
    spec.mask([=](Batch, Head, Query i, Key j) {
      return table[i + int(first)][j + int(first)] != 0;
    });
  });
  Call call = uniformProbe(Element::F32, shape);
  Tensor table;
  table.view.data = memory.base;
  table.view.dtype = Element::I8;
  table.view.extents = {extent, extent};
  table.view.strides = {extent, 1};
  auto keep = [](int64_t, int64_t, int64_t i, int64_t j) {
    return (i + j) % 3 == 0;
  };
  for (int64_t i = 0; i < shape.queries; ++i)
    for (int64_t j = 0; j < shape.keys; ++j)
      memory.base[(i + first) * extent + j + first] = keep(0, 0, i, j);
  call.captures = {table};
  program.run(call);
  expectNear(call, uniformTruth(call, keep));
}

struct Accuracy
    : testing::TestWithParam<std::tuple<Element, std::pair<int, int>>> {};

// Twice the error of an unfused attention with f32 sums.
TEST_P(Accuracy, IsWithinTwiceTheUnfusedError) {
  auto [type, dims] = GetParam();
  for (bool causalMask : {false, true}) {
    Shape shape = {130, 257, 4, 2, 1, dims.first, dims.second};
    Program program(type, shape, [=](Spec &spec) {
      if (causalMask)
        spec.mask(causal(BottomRight));
    });
    Call call = randomCall(type, shape);
    program.run(call);
    expectNear(call, program.evaluate(call));
  }
}
std::string accuracyName(
    const testing::TestParamInfo<std::tuple<Element, std::pair<int, int>>>
        &info) {
  auto [type, dims] = info.param;
  return runtime::dataTypeName(type) + ("_D" + std::to_string(dims.first));
}
INSTANTIATE_TEST_SUITE_P(
    Contract, Accuracy,
    testing::Combine(testing::Values(Element::F32, Element::BF16, Element::F16),
                     testing::Values(std::pair(64, 64), std::pair(128, 128),
                                     std::pair(100, 72))),
    accuracyName);

} // namespace
