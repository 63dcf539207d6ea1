// Sinks, row maxima and sorted buffers: what a spec prints, and its mistakes.
#include <qm/attention.h>

#include <gtest/gtest.h>

#include <cstring>

using namespace qm;

namespace {

struct Ready : Spec {
  explicit Ready(Where where = Where::current()) : Spec("ready", where) {
    heads(4).kvHeads(2).headDim(8);
  }
};

void expectText(Spec &spec, const char *part) {
  const char *text = spec.mlir();
  ASSERT_NE(text, nullptr) << spec.diagnostic(0).message;
  EXPECT_NE(std::strstr(text, part), nullptr) << text;
}

void expectMistake(Spec &spec, const char *code, const char *part) {
  EXPECT_EQ(spec.mlir(), nullptr);
  ASSERT_EQ(spec.diagnosticCount(), 1);
  EXPECT_STREQ(spec.diagnostic(0).code, code);
  EXPECT_NE(std::strstr(spec.diagnostic(0).message, part), nullptr)
      << spec.diagnostic(0).message;
}

TEST(DslStatistics, SinkOfABuffer) {
  Ready spec;
  auto sinks = spec.buffer("sinks", bf16, spec.heads());
  spec.sink(sinks).mask(causal(TopLeft)).returnLse();
  expectText(spec, "    sink (%b, %h) {\n"
                   "      %1 = attn.load %sinks[%h] : tensor<4xbf16>");
  expectText(spec, "attn.yield %2 : f32");
}

TEST(DslStatistics, SinkOfAFunction) {
  Ready spec;
  spec.sink([](Batch b, Head h) { return toFloat(h) * 0.5f - b; });
  expectText(spec, "sink (%b, %h) {");
  Ready constant;
  constant.sink([](Batch, Head) { return 0.f; });
  expectText(constant, "arith.constant 0.0 : f32");
}

TEST(DslStatistics, RowMaximumIsTheLastResult) {
  Ready alone;
  alone.returnRowMax();
  expectText(alone, "v(%v) row_max\n");
  expectText(alone, "  return %o, %row_max :");
  Ready both;
  both.returnRowMax().returnLse();
  expectText(both, "  return %o, %lse, %row_max :");
  expectText(both, "-> (tensor<?x4x?x8xbf16>, tensor<?x4x?xf32>, "
                   "tensor<?x4x?xf32>)");
}

// Every load says it, those before the promise too.
TEST(DslStatistics, SortedBuffers) {
  Ready spec;
  auto ids = spec.buffer("ids", i16, spec.batch(), spec.queryLength());
  Mask same = document(ids);
  ids.sorted();
  spec.mask(same);
  expectText(spec, "attn.load %ids[%b, %i] sorted : tensor<?x?xi16>");
  expectText(spec, "attn.load %ids[%b, %j] sorted : tensor<?x?xi16>");
}

TEST(DslStatistics, Mistakes) {
  Ready reserved;
  reserved.param("row_max", f32);
  expectMistake(reserved, "QM0104", "'row_max'");
  Ready twice;
  twice.sink([](Batch, Head) { return 1.f; });
  twice.sink([](Batch, Head) { return 2.f; });
  expectMistake(twice, "QM0106", "spec.sink");
  // A score is not known where sinks are.
  Ready scope;
  Float kept = 0;
  scope.score([&](Score s, Batch, Head, Query, Key) {
    kept = s * 2;
    return s;
  });
  scope.sink([&](Batch, Head) { return kept; });
  expectMistake(scope, "QM0108", "another function");
}

} // namespace
