// Masks and score modifiers against double precision, empty rows, and the
// property that the kind of a block never changes bits.
#include "CompiledSpec.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/BuiltinOps.h"
#include "gtest/gtest.h"

#include <cmath>

using namespace mlir;
using namespace qm;
using namespace qm::test;
using namespace qm::reference;

namespace {

std::string mask(const std::string &body) {
  return "mask (%b, %h, %i, %j) {\n" + body + "\n attn.yield %keep : i1\n}";
}
const std::string topLeft = mask("%keep = arith.cmpi sge, %i, %j : i32");
const std::string bottomRight = mask(R"(
  %sq = attn.extent query : i32
  %skv = attn.extent key : i32
  %d = arith.subi %skv, %sq : i32
  %e = arith.addi %i, %d : i32
  %keep = arith.cmpi sge, %e, %j : i32)");
const std::string window = mask(R"(
  %w = arith.constant 20 : i32
  %d = arith.subi %i, %j : i32
  %a = arith.cmpi sle, %d, %w : i32
  %z = arith.constant 0 : i32
  %c = arith.cmpi sge, %d, %z : i32
  %keep = arith.andi %a, %c : i1)");
const std::string never = mask("%keep = arith.constant false");
const std::string oneHeadOff = mask(R"(
  %z = arith.constant 0 : i32
  %other = arith.cmpi ne, %h, %z : i32
  %causal = arith.cmpi sge, %i, %j : i32
  %keep = arith.andi %other, %causal : i1)");
const std::string dilated = mask(R"(
  %d = arith.subi %i, %j : i32
  %r = arith.constant 3 : i32
  %m = arith.remsi %d, %r : i32
  %z = arith.constant 0 : i32
  %keep = arith.cmpi eq, %m, %z : i32)");
// An empty row in the middle.
const std::string rowOut = mask(R"(
  %r = arith.constant 13 : i32
  %keep = arith.cmpi ne, %i, %r : i32)");

struct MaskCase {
  const char *name;
  std::string text;
};
struct Masks : testing::TestWithParam<MaskCase> {};

TEST_P(Masks, IsAccurate) {
  SpecShape spec;
  spec.headDim = 20;
  spec.modifiers = GetParam().text;
  CompiledSpec compiled(spec);
  ASSERT_TRUE(compiled.valid());
  for (auto [queries, keys] :
       {std::pair(5, 2), {2, 5}, {1, 8}, {300, 1}, {130, 300}, {260, 260}}) {
    SCOPED_TRACE(testing::Message() << queries << " x " << keys);
    // Bottom-right masks leave only min(queries, keys) rows with a key.
    Call call(spec, batchFor(spec, std::min(queries, keys)), queries, keys);
    compiled.run(call);
    expectAccurate(compiled, call, spec.dtype);
  }
}

/// Makes every block partial: the classifier says "some" and never "all".
void forcePartial(ModuleOp module) {
  module.walk([](attn::KeyBlocksOp loop) {
    ASSERT_FALSE(loop.getClassify().empty());
    Operation *yield = loop.getClassify().front().getTerminator();
    OpBuilder b(yield);
    auto constant = [&](bool value) -> Value {
      return arith::ConstantOp::create(b, loop.getLoc(), b.getBoolAttr(value));
    };
    yield->setOperands({constant(true), constant(false)});
  });
}

TEST_P(Masks, BlockKindNeverChangesBits) {
  SpecShape spec;
  spec.headDim = 20;
  spec.modifiers = GetParam().text;
  CompiledSpec classified(spec), partial(spec, {}, "cpu", forcePartial);
  ASSERT_TRUE(classified.valid() && partial.valid());
  Call a(spec, 1, 300, 400), b(spec, 1, 300, 400);
  classified.run(a);
  partial.run(b);
  EXPECT_TRUE(sameBits(a.o, b.o));
  EXPECT_TRUE(sameBits(a.lse, b.lse));
}

INSTANTIATE_TEST_SUITE_P(Library, Masks,
                         testing::Values(MaskCase{"topLeft", topLeft},
                                         MaskCase{"bottomRight", bottomRight},
                                         MaskCase{"window", window},
                                         MaskCase{"never", never},
                                         MaskCase{"oneHeadOff", oneHeadOff},
                                         MaskCase{"dilated", dilated},
                                         MaskCase{"rowOut", rowOut}),
                         [](const auto &info) { return info.param.name; });

TEST(EmptyRows, AreZeroWithLseMinusInfinity) {
  SpecShape spec;
  spec.heads = spec.kvHeads = 1;
  spec.headDim = 4;
  spec.modifiers = bottomRight;
  CompiledSpec compiled(spec);
  ASSERT_TRUE(compiled.valid());
  Call call(spec, 1, 300, 1); // only the last row has a key
  compiled.run(call);
  for (int64_t i = 0; i < 299; ++i) {
    ASSERT_EQ(loadFloat(call.lse.view(), i),
              -std::numeric_limits<double>::infinity());
    for (int64_t c = 0; c < 4; ++c)
      ASSERT_EQ(loadFloat(call.o.view(), 4 * i + c), 0);
  }
  for (int64_t c = 0; c < 4; ++c)
    ASSERT_EQ(loadFloat(call.o.view(), 4 * 299 + c),
              loadFloat(call.v.view(), c));
}

struct ScoreCase {
  const char *name;
  const char *body;
};
struct Scores : testing::TestWithParam<ScoreCase> {};

TEST_P(Scores, IsAccurate) {
  SpecShape spec;
  spec.headDim = 12;
  spec.modifiers = std::string("score (%s, %b, %h, %i, %j) {\n") +
                   GetParam().body + "\n attn.yield %t : f32\n}";
  expectAccurate(spec, Call(spec, batchFor(spec, 60), 60, 150));
}
INSTANTIATE_TEST_SUITE_P(
    Functions, Scores,
    testing::Values(ScoreCase{"softcap", R"(%c = arith.constant 5.0 : f32
            %x = arith.divf %s, %c : f32
            %y = math.tanh %x : f32
            %t = arith.mulf %y, %c : f32)"},
                    ScoreCase{"distance", R"(%d = arith.subi %j, %i : i32
            %f = arith.sitofp %d : i32 to f32
            %c = arith.constant 0.125 : f32
            %x = arith.mulf %f, %c : f32
            %t = arith.addf %s, %x : f32)"},
                    ScoreCase{"negated", R"(%t = arith.negf %s : f32)"},
                    ScoreCase{"exp", R"(%t = math.exp %s : f32)"},
                    ScoreCase{"exp2", R"(%t = math.exp2 %s : f32)"},
                    ScoreCase{"log", R"(%a = math.absf %s : f32
            %t = math.log %a : f32)"},
                    ScoreCase{"sin", R"(%t = math.sin %s : f32)"},
                    ScoreCase{"cos", R"(%t = math.cos %s : f32)"},
                    ScoreCase{"erf", R"(%t = math.erf %s : f32)"},
                    ScoreCase{"sqrt", R"(%a = math.absf %s : f32
            %t = math.sqrt %a : f32)"},
                    ScoreCase{"rsqrt", R"(%a = math.absf %s : f32
            %o = arith.constant 1.0 : f32
            %p = arith.addf %a, %o : f32
            %t = math.rsqrt %p : f32)"},
                    ScoreCase{"constant", R"(%t = arith.constant 2.0 : f32)"},
                    ScoreCase{"floorDivision", R"(%n = arith.constant 7 : i32
            %d = arith.subi %i, %j : i32
            %f = arith.floordivsi %d, %n : i32
            %g = arith.sitofp %f : i32 to f32
            %c = arith.constant 0.25 : f32
            %h1 = arith.mulf %g, %c : f32
            %t = arith.addf %s, %h1 : f32)"},
                    ScoreCase{"select", R"(%c = arith.cmpi slt, %j, %i : i32
            %z = arith.constant 0.5 : f32
            %t = arith.select %c, %s, %z : f32)"}),
    [](const auto &info) { return info.param.name; });

// A head's slope, a table gathered by row and key, and a flag per document:
// indices uniform, vector, and both; run-time scalars; nested gathers.
TEST(Captures, AreReadByEveryKindOfIndex) {
  SpecShape spec;
  spec.headDim = 12;
  spec.captures = ", %slopes: tensor<2xf32>, %table: tensor<?x?xf16>, "
                  "%docs: tensor<?xi32>, %allow: tensor<?xi8>, %cap: f32, "
                  "%window: i32";
  spec.modifiers = R"(score (%s, %b, %h, %i, %j) {
      %m = attn.load %slopes[%h] : tensor<2xf32>
      %bias = attn.load %table[%i, %j] : tensor<?x?xf16>
      %wide = arith.extf %bias : f16 to f32
      %x = arith.mulf %m, %wide : f32
      %y = arith.addf %s, %x : f32
      %z = arith.mulf %y, %cap : f32
      attn.yield %z : f32
    } mask (%b, %h, %i, %j) {
      %di = attn.load %docs[%i] : tensor<?xi32>
      %dj = attn.load %docs[%j] : tensor<?xi32>
      %same = arith.cmpi eq, %di, %dj : i32
      %byte = attn.load %allow[%dj] : tensor<?xi8>
      %no = arith.constant 0 : i8
      %nested = arith.cmpi ne, %byte, %no : i8
      %d = arith.subi %i, %j : i32
      %near = arith.cmpi sle, %d, %window : i32
      %both = arith.andi %same, %nested : i1
      %keep = arith.andi %both, %near : i1
      attn.yield %keep : i1
    })";
  CompiledSpec compiled(spec);
  ASSERT_TRUE(compiled.valid());
  Call call(spec, batchFor(spec, 150), 150, 150);
  HostTensor slopes(DType::F32, {2}), table(DType::F16, {150, 150}),
      docs(DType::I32, {150}), allow(DType::I8, {3});
  storeFloat(slopes.view(), 0, 0.5);
  storeFloat(slopes.view(), 1, -0.25);
  for (int64_t i = 0; i < 150 * 150; ++i)
    storeFloat(table.view(), i, std::sin(double(i)));
  for (int64_t i = 0; i < 150; ++i)
    storeInteger(docs.view(), i, i / 60);
  storeInteger(allow.view(), 0, 1);
  storeInteger(allow.view(), 1, 0); // the second document attends to nothing
  storeInteger(allow.view(), 2, 1);
  call.captures = {slopes.view(), table.view(), docs.view(),
                   allow.view(),  0.75f,        int32_t(25)};
  compiled.run(call);
  expectAccurate(compiled, call, spec.dtype);
}

// Indices past either end read the nearest element.
TEST(Captures, GathersAreClamped) {
  SpecShape spec;
  spec.headDim = 4;
  spec.captures = ", %table: tensor<?xf32>";
  spec.modifiers = R"(score (%s, %b, %h, %i, %j) {
      %d = arith.subi %j, %i : i32
      %x = attn.load %table[%d] : tensor<?xf32>
      %y = attn.load %table[%j] : tensor<?xf32>
      %z = arith.addf %x, %y : f32
      %t = arith.addf %s, %z : f32
      attn.yield %t : f32
    })";
  CompiledSpec compiled(spec);
  ASSERT_TRUE(compiled.valid());
  Call call(spec, batchFor(spec, 60), 60, 90);
  HostTensor table(DType::F32, {5});
  for (int64_t i = 0; i < 5; ++i)
    storeFloat(table.view(), i, 0.3 * i);
  call.captures = {table.view()};
  compiled.run(call);
  expectAccurate(compiled, call, spec.dtype);
}

} // namespace
