// Every mistake that the front end finds while tracing: code, line, words, and
// a way out.
#include "dialect/DiagnosticIds.h"

#include <qm/attention.h>

#include <gtest/gtest.h>

#include <cstring>
#include <limits>
#include <string>

using namespace qm;

namespace {

std::string describe(const Diagnostic &d) {
  return std::string(d.file) + ":" + std::to_string(d.line) + ": " + d.code +
         ": " + d.message;
}

/// One diagnostic, with this code, at this line, whose message has these words.
void expectOne(Spec &spec, const char *code, int line,
               std::initializer_list<const char *> words) {
  EXPECT_EQ(spec.mlir(), nullptr);
  for (int k = 1; k < spec.diagnosticCount(); ++k)
    ADD_FAILURE() << "unexpected: " << describe(spec.diagnostic(k));
  ASSERT_EQ(spec.diagnosticCount(), 1);
  Diagnostic d = spec.diagnostic(0);
  EXPECT_STREQ(d.code, code) << describe(d);
  EXPECT_EQ(d.line, line) << describe(d);
  EXPECT_GT(d.column, 0);
  EXPECT_NE(std::strstr(d.file, "DiagnosticsTest.cpp"), nullptr) << d.file;
  for (const char *word : words)
    EXPECT_NE(std::strstr(d.message, word), nullptr) << describe(d);
  EXPECT_STRNE(d.help, "");
  EXPECT_NE(diag::find(static_cast<unsigned>(std::stoi(code + 2))), nullptr);
}

struct Ready : Spec {
  explicit Ready(Where where = Where::current()) : Spec("ready", where) {
    heads(4).headDim(8);
  }
};

TEST(DslDiagnostics, MissingHeads) {
  Spec spec("bare");
  int line = __LINE__ - 1;
  spec.headDim(64);
  expectOne(spec, "QM0101", line, {"'bare'", "query heads"});
}

TEST(DslDiagnostics, MissingHeadDim) {
  Spec spec("bare");
  int line = __LINE__ - 1;
  spec.heads(64);
  expectOne(spec, "QM0101", line, {"'bare'", "wide"});
}

TEST(DslDiagnostics, HeadsNotDivisible) {
  Spec spec("gqa");
  spec.headDim(64).heads(32);
  spec.kvHeads(7);
  int line = __LINE__ - 1;
  expectOne(spec, "QM0102", line, {"32 query heads", "7 key/value heads"});
}

TEST(DslDiagnostics, ExtentNotPositive) {
  Ready heads, buffer;
  heads.valueHeadDim(0);
  int line = __LINE__ - 1;
  expectOne(heads, "QM0103", line, {"valueHeadDim(0)"});
  buffer.buffer("x", f32, dynamic, -3);
  line = __LINE__ - 1;
  expectOne(buffer, "QM0103", line, {"dimension 1", "'x'", "-3"});
}

TEST(DslDiagnostics, BadNames) {
  Ready reserved, spelled, null;
  reserved.param("lse", f32);
  int line = __LINE__ - 1;
  expectOne(reserved, "QM0104", line, {"'lse'"});
  spelled.buffer("2nd table", f32, 4);
  line = __LINE__ - 1;
  expectOne(spelled, "QM0104", line, {"'2nd table'"});
  null.buffer(nullptr, f32, 4);
  line = __LINE__ - 1;
  expectOne(null, "QM0104", line, {"''"});
  Spec spec("my-layer");
  line = __LINE__ - 1;
  spec.heads(1).headDim(8);
  expectOne(spec, "QM0104", line, {"'my-layer'"});
}

TEST(DslDiagnostics, DuplicateName) {
  Ready spec;
  spec.buffer("x", f32, 4);
  int first = __LINE__ - 1;
  spec.param("x", i32);
  expectOne(spec, "QM0105", first + 2,
            {"'x'", ("line " + std::to_string(first)).c_str()});
}

TEST(DslDiagnostics, SetTwice) {
  auto identity = [](Score s, Batch, Head, Query, Key) { return s; };
  Ready score, mask, dtype;
  score.score(identity);
  score.score(identity);
  int line = __LINE__ - 1;
  expectOne(score, "QM0106", line, {"spec.score", "'ready'"});
  mask.mask(causal(TopLeft));
  mask.mask(full());
  line = __LINE__ - 1;
  expectOne(mask, "QM0106", line, {"spec.mask"});
  dtype.dtype(f16);
  dtype.dtype(bf16);
  line = __LINE__ - 1;
  expectOne(dtype, "QM0106", line, {"spec.dtype"});
}

TEST(DslDiagnostics, ForeignValues) {
  Spec other("other");
  auto number = other.param("n", f32);
  auto table = other.buffer("table", f32, 4);
  Ready mixed, whole, gather;
  int line = 0;
  mixed.score([&](Score s, Batch, Head, Query, Key) {
    line = __LINE__ + 1;
    return s + number;
  });
  expectOne(mixed, "QM0107", line, {"'ready'", "'other'"});
  whole.score([&](Score, Batch, Head, Query, Key) { return number; });
  line = __LINE__ - 1;
  expectOne(whole, "QM0107", line, {"'ready'", "'other'"});
  gather.score([&](Score, Batch, Head, Query, Key j) {
    line = __LINE__ + 1;
    return table[j];
  });
  EXPECT_EQ(gather.mlir(), nullptr);
  ASSERT_GE(gather.diagnosticCount(), 1);
  EXPECT_STREQ(gather.diagnostic(0).code, "QM0107");
}

TEST(DslDiagnostics, OutOfScope) {
  Ready inner, whole;
  Float leaked = 0;
  Bool condition = true;
  inner.score([&](Score s, Batch, Head, Query i, Key j) {
    leaked = s;
    condition = i > j;
    return s;
  });
  int line = 0;
  inner.mask([&](Batch, Head, Query i, Key j) {
    line = __LINE__ + 1;
    return i >= j && leaked > 0;
  });
  expectOne(inner, "QM0108", line, {"'ready'", "another function"});
  whole.score([&](Score s, Batch, Head, Query i, Key j) {
    condition = i > j;
    return s;
  });
  whole.mask([&](Batch, Head, Query, Key) { return condition; });
  line = __LINE__ - 1;
  EXPECT_EQ(whole.mlir(), nullptr);
  ASSERT_GE(whole.diagnosticCount(), 1);
  EXPECT_STREQ(whole.diagnostic(0).code, "QM0108");
}

TEST(DslDiagnostics, DivisionByZero) {
  Ready divide, modulo;
  int line = 0;
  divide.mask([&](Batch, Head, Query i, Key j) {
    line = __LINE__ + 1;
    return i / 0 >= j;
  });
  expectOne(divide, "QM0109", line, {"`/`", "constant 0"});
  modulo.mask([&](Batch, Head, Query i, Key j) {
    line = __LINE__ + 1;
    return i % 0 >= j;
  });
  expectOne(modulo, "QM0109", line, {"`%`"});
}

TEST(DslDiagnostics, ShiftOutOfRange) {
  Ready spec;
  int line = 0;
  spec.mask([&](Batch, Head, Query i, Key j) {
    line = __LINE__ + 1;
    return (i << 32) >= j;
  });
  expectOne(spec, "QM0110", line, {"32"});
}

TEST(DslDiagnostics, IntegerTooLarge) {
  Ready large, negative;
  int line = 0;
  large.mask([&](Batch, Head, Query i, Key) {
    line = __LINE__ + 1;
    return i >= 3000000000u;
  });
  expectOne(large, "QM0111", line, {"3000000000"});
  negative.mask([&](Batch, Head, Query i, Key) {
    line = __LINE__ + 1;
    return i >= -3000000000ll;
  });
  expectOne(negative, "QM0111", line, {"-3000000000"});
}

TEST(DslDiagnostics, BadScale) {
  Ready spec;
  spec.scale(std::numeric_limits<float>::quiet_NaN());
  int line = __LINE__ - 1;
  expectOne(spec, "QM0112", line, {"scale(nan)"});
}

TEST(DslDiagnostics, AllMistakesAreToldTogether) {
  Spec spec("many");
  spec.heads(-1);
  spec.param("q", i32);
  spec.score(
      [](Score s, Batch, Head, Query i, Key) { return s + i / 0 + i % 0; });
  EXPECT_EQ(spec.mlir(), nullptr);
  std::string codes;
  for (int k = 0; k < spec.diagnosticCount(); ++k)
    codes += std::string(spec.diagnostic(k).code) + " ";
  EXPECT_EQ(codes, "QM0103 QM0104 QM0101 QM0109 QM0109 ");
}

TEST(DslDiagnostics, MistakesInUnusedValuesAreHarmless) {
  Ready spec;
  spec.mask([](Batch, Head, Query i, Key j) {
    Index unused = i / 0;
    (void)unused;
    return i >= j;
  });
  EXPECT_NE(spec.mlir(), nullptr);
}

TEST(DslDiagnostics, DeepExpressionsDoNotOverflowTheStack) {
  Ready spec;
  spec.score([](Score s, Batch, Head, Query, Key) {
    Float sum = s;
    for (int k = 0; k < 200000; ++k)
      sum += 1;
    return sum;
  });
  EXPECT_NE(spec.mlir(), nullptr);
}

TEST(DslDiagnostics, OutOfRangeNumbersAreEmpty) {
  Ready spec;
  EXPECT_STREQ(spec.diagnostic(0).code, "");
  EXPECT_STREQ(spec.diagnostic(-1).code, "");
}

} // namespace
