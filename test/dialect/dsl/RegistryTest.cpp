// QM_ATTENTION and the C interface that qmc reads.
#include <qm/attention.h>

#include <gtest/gtest.h>

#include <cstring>
#include <stdexcept>

using namespace qm;

static int bodiesRun = 0;

QM_ATTENTION(first) {
  ++bodiesRun;
  spec.heads(4).headDim(8).mask(causal(TopLeft));
}

QM_ATTENTION(wrong) {
  // The test below knows this line.
  spec.heads(4).kvHeads(3).headDim(8);
}

QM_ATTENTION(throws) {
  spec.heads(4).headDim(8);
  throw std::runtime_error("out of slopes");
}

// Not through the macro: C++ itself refuses the same name twice in one file.
static const qm::detail::Registration again("first", [](Spec &spec) {
  spec.heads(1).headDim(8);
});

namespace {

TEST(DslRegistry, NamesInOrder) {
  EXPECT_EQ(qm_spec_abi_version(), QM_SPEC_ABI_VERSION);
  ASSERT_EQ(qm_spec_count(), 4);
  EXPECT_STREQ(qm_spec_name(0), "first");
  EXPECT_STREQ(qm_spec_name(1), "wrong");
  EXPECT_STREQ(qm_spec_name(2), "throws");
}

TEST(DslRegistry, TextOfAGoodSpec) {
  const char *text = qm_spec_mlir(0);
  ASSERT_NE(text, nullptr);
  EXPECT_EQ(std::strncmp(text, "func.func @first(", 17), 0);
  EXPECT_EQ(qm_spec_diagnostic_count(0), 0);
  EXPECT_EQ(qm_spec_mlir(0), text);
  EXPECT_EQ(bodiesRun, 1);
}

qm_spec_diagnostic_t only(int spec) {
  EXPECT_EQ(qm_spec_mlir(spec), nullptr);
  EXPECT_EQ(qm_spec_diagnostic_count(spec), 1);
  qm_spec_diagnostic_t diagnostic{};
  EXPECT_EQ(qm_spec_diagnostic(spec, 0, &diagnostic), 0);
  return diagnostic;
}

TEST(DslRegistry, DiagnosticsOfABadSpec) {
  qm_spec_diagnostic_t diagnostic = only(1);
  EXPECT_STREQ(diagnostic.code, "QM0102");
  EXPECT_NE(std::strstr(diagnostic.file, "RegistryTest.cpp"), nullptr);
  EXPECT_EQ(diagnostic.line, 20);
  EXPECT_NE(std::strstr(diagnostic.message, "4 query heads"), nullptr);
  EXPECT_STRNE(diagnostic.help, "");
}

TEST(DslRegistry, ExceptionsBecomeDiagnostics) {
  qm_spec_diagnostic_t diagnostic = only(2);
  EXPECT_STREQ(diagnostic.code, "QM0113");
  EXPECT_NE(std::strstr(diagnostic.message, "out of slopes"), nullptr);
}

TEST(DslRegistry, NamesAreUsedOnce) {
  qm_spec_diagnostic_t diagnostic = only(3);
  EXPECT_STREQ(diagnostic.code, "QM0105");
  EXPECT_NE(std::strstr(diagnostic.message, "RegistryTest.cpp:13"), nullptr)
      << diagnostic.message;
}

TEST(DslRegistry, NumbersOutOfRange) {
  qm_spec_diagnostic_t diagnostic{};
  for (int spec : {-1, 4, 1000}) {
    EXPECT_EQ(qm_spec_name(spec), nullptr);
    EXPECT_EQ(qm_spec_mlir(spec), nullptr);
    EXPECT_EQ(qm_spec_diagnostic_count(spec), -1);
    EXPECT_EQ(qm_spec_diagnostic(spec, 0, &diagnostic), -1);
  }
  EXPECT_EQ(qm_spec_diagnostic(1, 1, &diagnostic), -1);
  EXPECT_EQ(qm_spec_diagnostic(1, 0, nullptr), -1);
}

} // namespace
