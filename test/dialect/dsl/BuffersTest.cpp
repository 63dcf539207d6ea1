// Captured buffers, scalars and the signature they make.
#include "test/dialect/dsl/SpecText.h"

#include <qm/attention.h>

#include <gtest/gtest.h>

using namespace qm;
using qm::test::Array;
using qm::test::Call;
using qm::test::SpecText;

namespace {

using testing::Test;

std::string loaded(const SpecText &spec) {
  std::string all;
  for (const qm::test::Line &line : spec.score)
    if (line.mnemonic != "attn.yield")
      all += line.text + "\n";
  return all;
}

template <class T>
std::string loadOf(T type) {
  Spec spec("loads");
  auto buffer = spec.buffer("x", type, 5);
  spec.heads(1).headDim(8).score([=](Score s, Batch, Head, Query, Key j) {
    if constexpr (std::is_same_v<decltype(buffer[j]), Bool>)
      return s + toFloat(buffer[j]);
    else
      return s + buffer[j];
  });
  return loaded(SpecText(spec.mlir()));
}

TEST(DslBuffers, EveryElementTypeLoads) {
  const std::string add1 = "arith.addf %s, %1 : f32\n",
                    add2 = "arith.addf %s, %2 : f32\n";
  const std::string cast = "arith.sitofp %1 : i32 to f32\n";
  EXPECT_EQ(loadOf(f32),
            "attn.load %x[%j] : tensor<5xf32>\narith.addf %s, %0 : f32\n");
  EXPECT_EQ(loadOf(f16),
            "attn.load %x[%j] : tensor<5xf16>\narith.extf %0 : f16 to f32\n" +
                add1);
  EXPECT_EQ(loadOf(bf16),
            "attn.load %x[%j] : tensor<5xbf16>\narith.extf %0 : bf16 to f32\n" +
                add1);
  EXPECT_EQ(loadOf(i8),
            "attn.load %x[%j] : tensor<5xi8>\narith.extsi %0 : i8 to i32\n" +
                cast + add2);
  EXPECT_EQ(loadOf(i16),
            "attn.load %x[%j] : tensor<5xi16>\narith.extsi %0 : i16 to i32\n" +
                cast + add2);
  EXPECT_EQ(loadOf(i32),
            "attn.load %x[%j] : tensor<5xi32>\narith.sitofp %0 : i32 to f32\n" +
                add1);
  EXPECT_EQ(loadOf(i64),
            "attn.load %x[%j] : tensor<5xi64>\narith.trunci %0 : i64 to i32\n" +
                cast + add2);
  EXPECT_EQ(loadOf(i1),
            "attn.load %x[%j] : tensor<5xi8>\narith.constant 0 : i8\n"
            "arith.cmpi ne, %0, %1 : i8\narith.uitofp %2 : i1 to f32\n"
            "arith.addf %s, %3 : f32\n");
}

TEST(DslBuffers, ComputedAndNestedIndices) {
  Spec spec("nested");
  spec.heads(2).headDim(8);
  auto scale = spec.buffer("scale", f32, spec.heads(), dynamic);
  auto group = spec.buffer("group", i16, spec.batch(), spec.keyLength());
  spec.score([=](Score s, Batch b, Head h, Query i, Key j) {
    return s * scale[h][group(b, j) + i / 2] + scale(h, 0) +
           scale[Head(h / 2)][-5];
  });
  SpecText text(spec.mlir());

  Call call;
  call.batch = 2;
  call.query = call.key = 4;
  call.buffers["scale"] = {{2, 3}, {1, 2, 3, 4, 5, 6}};
  call.buffers["group"] = {{2, 4}, {0, 1, 2, 0, 1, 1, 0, 2}};
  for (int b = 0; b < 2; ++b)
    for (int h = 0; h < 2; ++h)
      for (int i = 0; i < 4; ++i)
        for (int j = 0; j < 4; ++j) {
          // Indices past an end read the end.
          int at = std::min(
              static_cast<int>(call.buffers["group"].elements[b * 4 + j]) +
                  i / 2,
              2);
          float expected = 10 * call.buffers["scale"].elements[h * 3 + at] +
                           call.buffers["scale"].elements[h * 3] + 1;
          EXPECT_EQ(text.evaluateScore(call, 10, b, h, i, j), expected);
        }
}

TEST(DslBuffers, RankFourBiasAndPartialSubscripts) {
  Spec spec("bias");
  spec.heads(2).headDim(8);
  auto bias = spec.buffer("bias", bf16, spec.batch(), spec.heads(),
                          spec.queryLength(), spec.keyLength());
  spec.score([=](Score s, Batch b, Head h, Query i, Key j) {
    auto row = bias[b][h][i];
    return s + row[j] + bias(b, h, i, j);
  });
  Call call;
  call.heads = call.query = call.key = 2;
  call.buffers["bias"] = {{1, 2, 2, 2}, {0, 1, 2, 3, 4, 5, 6, 7}};
  EXPECT_EQ(SpecText(spec.mlir()).evaluateScore(call, 1, 0, 1, 0, 1), 11);
}

TEST(DslBuffers, SignatureInOrderOfDeclaration) {
  Spec spec("signature");
  // Before heads() is set: extents are filled in at the end.
  spec.buffer("a", f32, spec.heads(), spec.kvHeads());
  spec.param("n", i32);
  spec.buffer("flags", i1, spec.batch(), spec.queryLength(), spec.keyLength(),
              dynamic, 7);
  spec.param("cap", f32);
  spec.heads(6)
      .kvHeads(2)
      .headDim(40)
      .valueHeadDim(24)
      .dtype(f16)
      .scale(0.25f)
      .returnLse();
  std::string text = spec.mlir();
  auto has = [&](const char *part) {
    return text.find(part) != std::string::npos;
  };
  EXPECT_TRUE(has("func.func @signature(%q: tensor<?x6x?x40xf16>, %k: "
                  "tensor<?x2x?x40xf16>, "
                  "%v: tensor<?x2x?x24xf16>"))
      << text;
  size_t a = text.find("%a: tensor<6x2xf32> {attn.name = \"a\"}");
  size_t n = text.find("%n: i32 {attn.name = \"n\"}");
  // Extents that are the call's are named.
  size_t flags =
      text.find("%flags: tensor<?x?x?x?x7xi8> {attn.name = \"flags\", "
                "attn.follows = [\"batch\", \"query\", \"key\", \"\", \"\"]}");
  size_t cap = text.find("%cap: f32 {attn.name = \"cap\"}");
  EXPECT_TRUE(a < n && n < flags && flags < cap && cap != std::string::npos)
      << text;
  EXPECT_TRUE(has("-> (tensor<?x6x?x24xf16>, tensor<?x6x?xf32>)")) << text;
  EXPECT_TRUE(has("%o, %lse = attn.attention q(%q) k(%k) v(%v) scale(0.25)"))
      << text;
}

TEST(DslBuffers, NamesOfRegionArgumentsAreFree) {
  Spec spec("names");
  auto b = spec.buffer("b", f32, spec.heads());
  auto s = spec.param("s", f32);
  spec.heads(1).headDim(8).score(
      [=](Score score, Batch, Head h, Query, Key) { return score * s + b[h]; });
  SpecText text(spec.mlir());
  EXPECT_EQ(loaded(text),
            "arith.mulf %s, %s$ : f32\nattn.load %b$[%h] : tensor<1xf32>\n"
            "arith.addf %0, %1 : f32\n");
}

TEST(DslBuffers, DefaultsAndIdentity) {
  Spec spec("plain");
  spec.heads(8).headDim(64).score(
      [](Score s, Batch, Head, Query, Key) { return s; });
  std::string text = spec.mlir();
  EXPECT_EQ(text.find("score"), std::string::npos);
  EXPECT_EQ(text.find("mask"), std::string::npos);
  EXPECT_EQ(text.find("scale"), std::string::npos);
  EXPECT_NE(
      text.find("%v: tensor<?x8x?x64xbf16>)\n    -> (tensor<?x8x?x64xbf16>)"),
      std::string::npos)
      << text;
}

TEST(DslBuffers, ExtentsAreValues) {
  Spec spec("extents");
  spec.heads(4).kvHeads(2).headDim(8);
  Index offset = spec.keyLength() - spec.queryLength();
  spec.score([&](Score s, Batch, Head, Query, Key) {
    return s + offset + spec.batch() * 100 + spec.heads() * 10 + spec.kvHeads();
  });
  spec.mask([&](Batch, Head, Query i, Key j) { return i + offset >= j; });
  Call call;
  call.batch = 3;
  call.heads = 4;
  call.kvHeads = 2;
  call.query = 2;
  call.key = 7;
  SpecText text(spec.mlir());
  EXPECT_EQ(text.evaluateScore(call, 0.5f, 0, 0, 0, 0),
            0.5f + 5 + 300 + 40 + 2);
  EXPECT_TRUE(text.evaluateMask(call, 0, 0, 0, 5));
  EXPECT_FALSE(text.evaluateMask(call, 0, 0, 0, 6));
}

TEST(DslBuffers, TracingTwiceGivesTheSameText) {
  auto build = [] {
    Spec spec("again");
    spec.heads(2).headDim(8).mask(causal(BottomRight) && slidingWindow(3));
    spec.score([](Score s, Batch, Head, Query i, Key j) {
      return s + 2.f * (i - j) / 2;
    });
    return std::string(spec.mlir());
  };
  EXPECT_EQ(build(), build());
}

} // namespace
