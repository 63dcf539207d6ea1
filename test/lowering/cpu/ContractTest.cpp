// The launch contract and the numerics contract: strides, NaN past the length,
// bits that depend on nothing but the inputs.
#include "CompiledSpec.h"

#include "lowering/common/TargetInfo.h"

#include "gtest/gtest.h"

#include <cmath>
#include <cstring>

using namespace qm;
using namespace qm::test;
using namespace qm::reference;

namespace {

const char *const causal = R"(mask (%b, %h, %i, %j) {
    %keep = arith.cmpi sge, %i, %j : i32
    attn.yield %keep : i1
  })";

TEST(Bits, RepeatRunToRunAndForAnyThreads) {
  SpecShape spec;
  spec.modifiers = causal;
  CompiledSpec compiled(spec);
  ASSERT_TRUE(compiled.valid());
  Call first(spec, 2, 500, 500), again(spec, 2, 500, 500);
  compiled.run(first, 1);
  for (unsigned threads : {1, 2, 2, 2, 3, 7}) {
    compiled.run(again, threads);
    ASSERT_TRUE(sameBits(first.o, again.o)) << threads;
    ASSERT_TRUE(sameBits(first.lse, again.lse)) << threads;
  }
}

/// Copies `from` element by element to a view of the same extents.
void copy(const TensorView &from, const TensorView &to) {
  for (int64_t b = 0; b < from.extents[0]; ++b)
    for (int64_t h = 0; h < from.extents[1]; ++h)
      for (int64_t s = 0; s < from.extents[2]; ++s)
        for (int64_t d = 0; d < from.extents[3]; ++d)
          storeFloat(to, to.offset({b, h, s, d}),
                     loadFloat(from, from.offset({b, h, s, d})));
}

struct Strides : testing::TestWithParam<const char *> {};

// [B, S, H, D] layout, every second row of a larger buffer, and q, k, v as
// views of one packed tensor: bitwise what contiguous copies give.
TEST_P(Strides, AreHonoured) {
  SpecShape spec;
  spec.headDim = 20;
  spec.dtype = GetParam();
  CompiledSpec compiled(spec);
  ASSERT_TRUE(compiled.valid());
  Call plain(spec, 2, 70, 90);
  compiled.run(plain);

  Call call(spec, 2, 70, 90);
  DType type = plain.q.view().dtype;
  HostTensor q(type, {2, 2, 70, 20}, {0, 2, 1, 3});
  HostTensor o(type, {2, 2, 70, 20}, {0, 2, 1, 3});
  HostTensor rows(type, {2, 2, 180, 20});
  HostTensor packed(type, {2, 90, 3, 2, 20});
  auto nan = [](const HostTensor &tensor) {
    for (int64_t i = 0; i < tensor.view().numElements(); ++i)
      storeFloat(tensor.view(), i, std::nan(""));
  };
  nan(rows);
  nan(packed);
  TensorView everySecond = rows.view();
  everySecond.extents[2] = 90;
  everySecond.strides[2] *= 2;
  TensorView values = packed.view();
  values.data = static_cast<char *>(values.data) +
                2 * 2 * 20 * runtime::bytesPerElement(type);
  values.extents = {2, 2, 90, 20};
  values.strides = {90 * 3 * 2 * 20, 20, 3 * 2 * 20, 1};
  copy(plain.q.view(), q.view());
  copy(plain.k.view(), everySecond);
  copy(plain.v.view(), values);
  compiled.run({q.view(), everySecond, values}, o.view(), call.lse.view());

  copy(o.view(), call.o.view());
  EXPECT_TRUE(sameBits(plain.o, call.o));
  EXPECT_TRUE(sameBits(plain.lse, call.lse));
}
INSTANTIATE_TEST_SUITE_P(Types, Strides, testing::Values("f32", "bf16", "f16"));

// A stride of 0 repeats one row; a negative one walks backwards.
TEST(Strides, ZeroBroadcastsAndNegativeReverses) {
  SpecShape spec;
  spec.heads = spec.kvHeads = 1;
  spec.headDim = 4;
  CompiledSpec compiled(spec);
  ASSERT_TRUE(compiled.valid());
  Call plain(spec, 1, 3, 20), call(spec, 1, 3, 20);
  TensorView k = call.k.view(), v = call.v.view(), q = call.q.view();
  k.strides[2] = -4;
  k.data = static_cast<float *>(k.data) + 19 * 4;
  v.strides[2] = -4;
  v.data = static_cast<float *>(v.data) + 19 * 4;
  q.strides[2] = 0;
  copy(k, plain.k.view());
  copy(v, plain.v.view());
  copy(q, plain.q.view());
  compiled.run(plain);
  compiled.run({q, k, v}, call.o.view(), call.lse.view());
  EXPECT_TRUE(sameBits(plain.o, call.o));
}

// A cache of 128 rows of which some are used: the rest holds NaN.
TEST(PastTheLength, NaNIsHarmless) {
  for (std::string dtype : {"f32", "bf16"}) {
    SpecShape spec;
    spec.heads = spec.kvHeads = 1;
    spec.headDim = 8;
    spec.dtype = dtype;
    CompiledSpec compiled(spec);
    ASSERT_TRUE(compiled.valid());
    for (int64_t length : {1, 32, 37, 48, 64, 96, 127}) {
      Call used(spec, 1, 9, length), cache(spec, 1, 9, 128);
      for (HostTensor *tensor : {&cache.k, &cache.v})
        for (int64_t i = 0; i < 128 * 8; ++i)
          storeFloat(tensor->view(), i, std::nan(""));
      TensorView k = cache.k.view(), v = cache.v.view();
      k.extents[2] = v.extents[2] = length;
      copy(used.k.view(), k);
      copy(used.v.view(), v);
      compiled.run(used);
      compiled.run({used.q.view(), k, v}, cache.o.view(), cache.lse.view());
      EXPECT_TRUE(sameBits(used.o, cache.o)) << dtype << length;
      EXPECT_TRUE(sameBits(used.lse, cache.lse)) << dtype << length;
    }
  }
}

// O of a row does not depend on which other rows, heads or batches there are.
TEST(BatchMates, DoNotChangeBits) {
  SpecShape spec;
  spec.headDim = 16;
  CompiledSpec compiled(spec);
  ASSERT_TRUE(compiled.valid());
  Call all(spec, 3, 100, 77), one(spec, 3, 100, 77);
  compiled.run(all);
  auto second = [](const HostTensor &tensor) {
    TensorView view = tensor.view();
    view.extents[0] = 1;
    view.data = static_cast<float *>(view.data) + view.strides[0];
    return view;
  };
  compiled.run({second(one.q), second(one.k), second(one.v)}, second(one.o),
               second(one.lse));
  int64_t bytes = 4 * 2 * 100 * 16;
  EXPECT_EQ(std::memcmp(all.o.bytes().data() + bytes,
                        one.o.bytes().data() + bytes, bytes),
            0);
}

// NaN in a used key is the caller's own and must show.
TEST(NaN, PropagatesFromUsedKeys) {
  SpecShape spec;
  spec.heads = spec.kvHeads = 1;
  CompiledSpec compiled(spec);
  ASSERT_TRUE(compiled.valid());
  Call call(spec, 1, 3, 5);
  storeFloat(call.k.view(), 64 * 2, std::nan(""));
  compiled.run(call);
  EXPECT_TRUE(std::isnan(loadFloat(call.o.view(), 0)));
  EXPECT_TRUE(std::isnan(loadFloat(call.lse.view(), 0)));
}

// Scores of +-1e4 and rows shifted far down: no overflow, no lost weight.
TEST(Extremes, LargeScoresStayFinite) {
  SpecShape spec;
  spec.headDim = 8;
  spec.scale = "1000.0";
  expectAccurate(spec, Call(spec, batchFor(spec, 40), 40, 200));
  spec.scale = "1.0";
  spec.modifiers = R"(score (%s, %b, %h, %i, %j) {
      %c = arith.constant -200.0 : f32
      %t = arith.addf %s, %c : f32
      attn.yield %t : f32
    })";
  expectAccurate(spec, Call(spec, batchFor(spec, 40), 40, 200));
}

// Every tile shape gives the same attention.
TEST(Schedule, OverridesKeepAccuracy) {
  SpecShape spec;
  spec.headDim = 24;
  spec.modifiers = causal;
  int64_t lanes = lowering::findTarget("cpu")->vectorBytes / 4;
  struct Shape {
    int64_t vectors, strips, tileN, microN;
  };
  for (Shape shape : {Shape{1, 1, 1, 1},
                      {1, 3, 5, 3},
                      {2, 1, 32, 8},
                      {2, 3, 200, 1},
                      {3, 1, 5, 8},
                      {3, 3, 32, 3},
                      {3, 1, 200, 3},
                      {1, 1, 200, 8}}) {
    auto set = [](const char *field, int64_t value) {
      return "schedule." + std::string(field) + "=" + std::to_string(value);
    };
    SCOPED_TRACE(testing::Message()
                 << shape.vectors << " vectors, " << shape.strips
                 << " strips, tile_n " << shape.tileN << ", micro_n "
                 << shape.microN);
    int64_t microM = shape.vectors * lanes;
    expectAccurate(spec, Call(spec, batchFor(spec, 100), 100, 90),
                   {set("micro_m", microM),
                    set("tile_m", shape.strips * microM),
                    set("tile_n", shape.tileN), set("micro_n", shape.microN)});
  }
}

} // namespace
