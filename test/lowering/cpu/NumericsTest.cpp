// Element types, head dims and ragged extents against double precision: errors
// at most twice those of an unfused f32 reference.
#include "CompiledSpec.h"

#include "lowering/common/TargetInfo.h"

#include "gtest/gtest.h"

#include <cmath>

using namespace qm;
using namespace qm::test;
using namespace qm::reference;

namespace {

struct DimCase {
  int64_t d, dv;
};
struct HeadDim : testing::TestWithParam<std::tuple<std::string, DimCase>> {};

TEST_P(HeadDim, IsAccurate) {
  auto [dtype, dims] = GetParam();
  SpecShape spec;
  spec.dtype = dtype;
  spec.headDim = dims.d;
  spec.valueHeadDim = dims.dv;
  // More than one strip, key block and remainder of each.
  expectAccurate(spec, Call(spec, batchFor(spec, 67), 67, 157));
}

std::string
dimName(const testing::TestParamInfo<std::tuple<std::string, DimCase>> &info) {
  auto [dtype, dims] = info.param;
  return dtype + "_D" + std::to_string(dims.d) + "_Dv" +
         std::to_string(dims.dv);
}

INSTANTIATE_TEST_SUITE_P(
    Types, HeadDim,
    testing::Combine(
        testing::Values("f32", "bf16", "f16"),
        testing::Values(DimCase{1, 1}, DimCase{8, 8}, DimCase{17, 17},
                        DimCase{40, 40}, DimCase{64, 64}, DimCase{72, 72},
                        DimCase{96, 96}, DimCase{100, 100}, DimCase{121, 121},
                        DimCase{128, 128}, DimCase{160, 160}, DimCase{192, 192},
                        DimCase{256, 256}, DimCase{64, 17}, DimCase{17, 128},
                        DimCase{192, 128}, DimCase{1, 64}, DimCase{64, 1})),
    dimName);

TEST(Ragged, EveryRemainderOfQueriesAndKeys) {
  SpecShape spec;
  spec.headDim = 24;
  CompiledSpec compiled(spec);
  ASSERT_TRUE(compiled.valid());
  for (int64_t queries : {1, 2, 15, 16, 17, 47, 48, 49, 191, 192, 193, 300})
    for (int64_t keys : {1, 7, 8, 9, 63, 127, 128, 129, 257}) {
      SCOPED_TRACE(testing::Message() << queries << " x " << keys);
      Call call(spec, batchFor(spec, queries), queries, keys,
                1000 * queries + keys);
      compiled.run(call);
      expectAccurate(compiled, call, spec.dtype);
    }
}

TEST(Ragged, NoKeysGiveZeroAndMinusInfinity) {
  SpecShape spec;
  CompiledSpec compiled(spec);
  ASSERT_TRUE(compiled.valid());
  Call call(spec, 2, 50, 0);
  compiled.run(call);
  for (int64_t i = 0; i < call.o.view().numElements(); ++i)
    ASSERT_EQ(loadFloat(call.o.view(), i), 0);
  for (int64_t i = 0; i < call.lse.view().numElements(); ++i)
    ASSERT_EQ(loadFloat(call.lse.view(), i),
              -std::numeric_limits<double>::infinity());
}

TEST(Ragged, NoQueriesAndNoBatchDoNothing) {
  SpecShape spec;
  CompiledSpec compiled(spec);
  ASSERT_TRUE(compiled.valid());
  Call noQueries(spec, 1, 0, 30), noBatch(spec, 0, 10, 30);
  compiled.run(noQueries);
  compiled.run(noBatch);
}

// q = 0 and V[j] = j: every key weighs the same, so lse = ln S and O is the
// mean.
TEST(Ragged, UniformScoresCountTheTailExactly) {
  SpecShape spec;
  spec.heads = spec.kvHeads = 1;
  spec.headDim = 8;
  CompiledSpec compiled(spec);
  ASSERT_TRUE(compiled.valid());
  for (int64_t keys : {1, 9, 12, 37, 63, 65, 129, 137, 255, 257}) {
    Call call(spec, 1, 5, keys);
    for (int64_t i = 0; i < call.q.view().numElements(); ++i)
      storeFloat(call.q.view(), i, 0);
    for (int64_t i = 0; i < call.v.view().numElements(); ++i)
      storeFloat(call.v.view(), i, double(i / 8));
    compiled.run(call);
    for (int64_t i = 0; i < 5; ++i) {
      EXPECT_NEAR(loadFloat(call.lse.view(), i), std::log(double(keys)), 1e-6);
      EXPECT_NEAR(loadFloat(call.o.view(), 8 * i), (keys - 1) / 2.0,
                  keys * 1e-6);
    }
  }
}

struct Gqa : testing::TestWithParam<std::pair<int64_t, int64_t>> {};

TEST_P(Gqa, GroupsReadTheirOwnHead) {
  SpecShape spec;
  spec.heads = GetParam().first;
  spec.kvHeads = GetParam().second;
  spec.headDim = 16;
  expectAccurate(spec, Call(spec, batchFor(spec, 1), 1, 70));
  expectAccurate(spec, Call(spec, batchFor(spec, 33), 33, 40));
}
INSTANTIATE_TEST_SUITE_P(Groups, Gqa,
                         testing::Values(std::pair{32, 8}, std::pair{28, 4},
                                         std::pair{12, 2}, std::pair{48, 2},
                                         std::pair{40, 2}, std::pair{6, 2},
                                         std::pair{71, 1}));

struct Precision
    : testing::TestWithParam<std::tuple<std::string, std::string>> {};

TEST_P(Precision, OverridesKeepAccuracy) {
  auto [dtype, override] = GetParam();
  SpecShape spec;
  spec.dtype = dtype;
  spec.headDim = 40;
  expectAccurate(spec, Call(spec, batchFor(spec, 50), 50, 140), {override});
}
INSTANTIATE_TEST_SUITE_P(Fields, Precision,
                         testing::Combine(testing::Values("bf16", "f16"),
                                          testing::Values("precision.p=f32",
                                                          "precision.qk=f32",
                                                          "precision.pv=f32")));

struct Target : testing::TestWithParam<const char *> {};

// Every CPU level this machine runs, with wider and narrower vectors.
TEST_P(Target, IsAccurate) {
  const lowering::TargetInfo *target = lowering::findTarget(GetParam());
  if (target->vectorBytes > lowering::findTarget("cpu")->vectorBytes)
    GTEST_SKIP() << "this machine does not run " << GetParam();
  for (std::string dtype : {"f32", "bf16", "f16"}) {
    SpecShape spec;
    spec.dtype = dtype;
    spec.headDim = 36;
    spec.modifiers = R"(score (%s, %b, %h, %i, %j) {
      %t = math.tanh %s : f32
      attn.yield %t : f32
    } mask (%b, %h, %i, %j) {
      %c = arith.cmpi sge, %i, %j : i32
      attn.yield %c : i1
    })";
    expectAccurate(spec, Call(spec, batchFor(spec, 100), 100, 150), {},
                   GetParam());
  }
}
INSTANTIATE_TEST_SUITE_P(Levels, Target,
                         testing::Values("generic-cpu", "x86-64-v3",
                                         "x86-64-v4"));

// One key, so that lse is the score: sin and cos of distances of long
// sequences, within 1.3 2^-24. That lse is kept in units of log 2 costs another
// 2^-24.
TEST(Trigonometry, IsAccurateForLargeArguments) {
  for (std::string target : {"generic-cpu", "cpu"})
    for (std::string function : {"sin", "cos"}) {
      // Without fused multiply-adds the reduction is exact up to 2^13 quarter
      // turns.
      std::string step = target == "cpu" ? "211.0" : "2.5";
      SpecShape spec;
      spec.heads = spec.kvHeads = 1;
      spec.headDim = 1;
      spec.modifiers = R"(score (%s, %b, %h, %i, %j) {
        %x = arith.sitofp %i : i32 to f32
        %middle = arith.constant 2500.0 : f32
        %step = arith.constant )" +
                       step + R"( : f32
        %y = arith.subf %x, %middle : f32
        %z = arith.mulf %y, %step : f32
        %t = math.)" + function +
                       R"( %z : f32
        attn.yield %t : f32
      })";
      CompiledSpec compiled(spec, {}, target);
      ASSERT_TRUE(compiled.valid());
      Call call(spec, 1, 5000, 1);
      compiled.run(call);
      EXPECT_LE(measure(compiled, call).lse, 2.3 * 0x1p-24)
          << function << " " << target;
    }
}

// f16 and bf16 values through integer code, denormals and infinities included:
// one key, so that O is V.
TEST(NarrowTypes, ConversionsAreExactOnEveryValue) {
  for (std::string dtype : {"f16", "bf16"})
    for (const char *target : {"generic-cpu", "cpu"}) {
      SpecShape spec;
      spec.heads = spec.kvHeads = 1;
      spec.headDim = 1;
      spec.valueHeadDim = 256;
      spec.dtype = dtype;
      CompiledSpec compiled(spec, {}, target);
      ASSERT_TRUE(compiled.valid());
      Call call(spec, 256, 1, 1);
      auto *bits = reinterpret_cast<uint16_t *>(call.v.bytes().data());
      auto *result = reinterpret_cast<uint16_t *>(call.o.bytes().data());
      uint16_t exponent = dtype == "f16" ? 0x7c00 : 0x7f80;
      for (int i = 0; i < 65536; ++i)
        bits[i] = i;
      compiled.run(call);
      for (int i = 0; i < 65536; ++i) {
        bool nan = (i & exponent) == exponent && (i & ~exponent & 0x7fff);
        bool nanBack = (result[i] & exponent) == exponent &&
                       (result[i] & ~exponent & 0x7fff);
        // 1 * v + 0 turns -0 into +0.
        if (nan)
          ASSERT_TRUE(nanBack) << i;
        else
          ASSERT_EQ(result[i], i == 0x8000 ? 0 : i) << dtype << " " << target;
      }
    }
}

} // namespace
