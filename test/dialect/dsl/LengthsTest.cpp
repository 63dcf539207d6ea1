// Sequences of different lengths: what a spec prints, and its mistakes.
#include <qm/attention.h>

#include <gtest/gtest.h>

#include <cstring>
#include <string>

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

TEST(DslLengths, PackedSequencesShareABatchEntry) {
  Ready spec;
  spec.packed().returnLse();
  auto stride = spec.buffer("stride", i32, spec.batch(), spec.queryLength());
  spec.mask(
      [=](Batch b, Head, Query i, Key j) { return i - j < stride(b, i); });
  expectText(spec, "%q: tensor<1x4x?x8xbf16>, %k: tensor<1x2x?x8xbf16>, %v: "
                   "tensor<1x2x?x8xbf16>");
  // After v, before the buffers.
  expectText(spec, "%cu_q: tensor<?xi32> {attn.name = \"cu_q\"}, %cu_kv: "
                   "tensor<?xi32> {attn.name = \"cu_kv\"},\n    %stride: ");
  // One for each sequence; rows of one count from its start.
  expectText(spec, "attn.follows = [\"batch\", \"\"]");
  expectText(spec, "q(%q) k(%k) v(%v) packed(%cu_q, %cu_kv)");
  expectText(spec, "tensor<1x4x?xf32>");
}

TEST(DslLengths, PaddedSequencesKeepTheirBatchEntries) {
  Ready spec;
  spec.padded().scale(0.5f);
  expectText(spec, "%q: tensor<?x4x?x8xbf16>");
  expectText(spec, "v(%v) padded(%len_q, %len_kv) scale(0.5)");
}

TEST(DslLengths, NamesOfLengthsAreTakenWhereThereAreSome) {
  Ready without;
  without.buffer("cu_q", i32, 4);
  EXPECT_NE(without.mlir(), nullptr);
  Ready packed;
  packed.packed();
  packed.buffer("cu_kv", i32, 4);
  int line = __LINE__ - 1;
  EXPECT_EQ(packed.mlir(), nullptr);
  ASSERT_EQ(packed.diagnosticCount(), 1);
  EXPECT_STREQ(packed.diagnostic(0).code, "QM0104");
  EXPECT_EQ(packed.diagnostic(0).line, line);
}

TEST(DslLengths, OneKindOnce) {
  Ready twice, both;
  twice.packed().packed();
  EXPECT_STREQ(twice.diagnostic(0).code, "QM0106");
  both.packed().padded();
  ASSERT_EQ(both.diagnosticCount(), 1);
  EXPECT_STREQ(both.diagnostic(0).code, "QM0106");
  EXPECT_NE(std::strstr(both.diagnostic(0).message, "both packed and padded"),
            nullptr);
}

} // namespace
