//===- VerboseTest.cpp - QM_VERBOSE ---------------------------------------===//

#include "runtime/qm.h"
#include "test/runtime/Probe.h"

#include <cstdlib>
#include <gtest/gtest.h>

namespace {

// A program of its own: the variable is read once.
TEST(Verbose, TellsEachChoiceOnceAndWhy) {
  setenv("QM_VERBOSE", "1", 1);
  std::string text = probe::manifest(
      {probe::entry("cpu", "a",
                    R"("name": "short", "operator": "probe",
                       "when": {"query": [0, 4]})"),
       probe::entry("cpu", "a", R"("name": "any", "operator": "probe")")});
  qm_image image = {sizeof image, "a", nullptr, 0, probe::run};
  qm_library *library = nullptr;
  const qm_operator *op = nullptr;
  ASSERT_EQ(qm_library_create(text.data(), text.size(), &image, 1, &library),
            QM_OK)
      << qm_last_error();
  ASSERT_EQ(qm_library_find_operator(library, "probe", &op), QM_OK);
  probe::Arguments arguments; // 6 queries
  std::vector<qm_value> values = arguments.values();
  auto output = [&] {
    testing::internal::CaptureStderr();
    EXPECT_EQ(qm_operator_launch(op, values.data(), values.size(), nullptr),
              QM_OK);
    return testing::internal::GetCapturedStderr();
  };
  EXPECT_EQ(output(),
            "qm: probe runs any (q f32 [?, 4, ?, 8], k f32 [?, 2, ?, 8], v f32 "
            "[?, 2, ?, 8]; cpu cpu), its cpu for cpu, on the CPU\n"
            "  not short: it is for query 0 to 4, not 6\n");
  EXPECT_EQ(output(), "");
  qm_library_destroy(library);
}

} // namespace
