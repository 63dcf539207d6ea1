//===- OperatorTest.cpp - which kernel of an operator a call runs ---------===//

#include "runtime/qm.h"
#include "test/runtime/Probe.h"
#include "test/runtime/fake_cuda.h"

#include <cstdlib>
#include <cstring>
#include <gtest/gtest.h>
#include <memory>

using probe::Arguments;

namespace {

constexpr DLDevice cpu = {kDLCPU, 0}, gpu = {kDLCUDA, 0}, hopper = {kDLCUDA, 1};

std::string replace(std::string text, const std::string &from,
                    const std::string &to) {
  for (size_t at = text.find(from); at != text.npos;
       at = text.find(from, at + to.size()))
    text.replace(at, from.size(), to);
  return text;
}

/// An entry of the operator "probe".
std::string kernel(const std::string &name, const std::string &target,
                   const std::string &fields = "") {
  return probe::entry(target, name + "." + target,
                      R"("operator": "probe", "name": ")" + name + "\"" +
                          (fields.empty() ? "" : ", " + fields));
}

class Operator : public testing::Test {
protected:
  static void SetUpTestSuite() { setenv("QM_CUDA_DRIVER", QM_FAKE_CUDA, 1); }
  ~Operator() override { qm_library_destroy(library); }

  /// CPU code for entries for the CPU, PTX for the others.
  void make(const std::vector<std::string> &entries) {
    std::string text = probe::manifest(entries);
    std::vector<qm_image> images;
    for (const char *name : {"wide", "half", "short", "long", "any"})
      for (const char *target :
           {"cpu", "sm_80", "sm_90", "x86-64-v3", "generic-cpu", "x86-64-v4"}) {
        names.push_back(
            std::make_unique<std::string>(std::string(name) + "." + target));
        images.push_back({sizeof(qm_image), names.back()->c_str(),
                          (strncmp(target, "sm_90", 5) ? ptx80 : ptx90).data(),
                          (strncmp(target, "sm_90", 5) ? ptx80 : ptx90).size(),
                          probe::run});
      }
    ASSERT_EQ(qm_library_create(text.data(), text.size(), images.data(),
                                images.size(), &library),
              QM_OK)
        << qm_last_error();
    ASSERT_EQ(qm_library_find_operator(library, "probe", &op), QM_OK);
  }

  /// The chosen kernel's name, or the status.
  std::string choose(const Arguments &arguments) {
    std::vector<qm_value> values = arguments.values();
    const qm_kernel *chosen = nullptr;
    if (int status =
            qm_operator_select(op, values.data(), values.size(), &chosen))
      return std::to_string(status);
    qm_kernel_info info = {sizeof info, nullptr, 0, 0};
    EXPECT_EQ(qm_kernel_get_info(chosen, &info), QM_OK);
    return info.name;
  }

  const std::string ptx80 = probe::ptx("sm_80"), ptx90 = probe::ptx("sm_90");
  std::vector<std::unique_ptr<std::string>> names;
  qm_library *library = nullptr;
  const qm_operator *op = nullptr;
};

TEST_F(Operator, AKernelWithoutOneIsItsOwn) {
  qm_library *alone = probe::cpuLibrary();
  EXPECT_EQ(qm_library_operator_count(alone), 1u);
  ASSERT_EQ(qm_library_operator_at(alone, 0, &op), QM_OK);
  qm_operator_info info = {sizeof info, nullptr, 0};
  ASSERT_EQ(qm_operator_get_info(op, &info), QM_OK);
  EXPECT_STREQ(info.name, "probe");
  EXPECT_EQ(info.kernel_count, 1u);
  Arguments arguments;
  std::vector<qm_value> values = arguments.values();
  EXPECT_EQ(qm_operator_launch(op, values.data(), values.size(), nullptr),
            QM_OK)
      << qm_last_error();
  EXPECT_TRUE(arguments.outputsAreRight());
  size_t bytes = 1;
  EXPECT_EQ(qm_operator_workspace(op, values.data(), values.size(), &bytes),
            QM_OK);
  EXPECT_EQ(bytes, 0u);
  EXPECT_EQ(qm_operator_prepare(op, cpu), QM_OK);
  qm_library_destroy(alone);
}

TEST_F(Operator, GoesByElementTypeAndHeadDim) {
  make({replace(kernel("half", "cpu"), "\"f32\", \"shape\": [-1, 4, -1, 8]",
                "\"f16\", \"shape\": [-1, 4, -1, 8]"),
        replace(kernel("wide", "cpu"), ", 8]", ", 16]"), kernel("any", "cpu")});
  Arguments arguments;
  EXPECT_EQ(choose(arguments), "any");
  arguments.q.dl.dtype = arguments.o.dl.dtype = {kDLFloat, 16, 1};
  EXPECT_EQ(choose(arguments), "half");
  arguments.q.dl.dtype = arguments.o.dl.dtype = {kDLBfloat, 16, 1};
  EXPECT_EQ(choose(arguments), std::to_string(QM_ERROR_NO_KERNEL));
}

TEST_F(Operator, GoesByLengthsInTheManifestsOrder) {
  make({kernel("short", "cpu", R"("when": {"query": [0, 4]})"),
        kernel("long", "cpu", R"("when": {"key": [1000, null]})"),
        kernel("any", "cpu")});
  EXPECT_EQ(choose(Arguments(cpu, 1, 4, 2000)), "short");
  EXPECT_EQ(choose(Arguments(cpu, 1, 5, 2000)), "long");
  EXPECT_EQ(choose(Arguments(cpu, 1, 5, 999)), "any");
}

TEST_F(Operator, GoesByGroups) {
  make(
      {kernel("short", "cpu", R"("when": {"groups": [4, 4]})"),
       kernel("any", "cpu", R"("when": {"groups": [2, 2], "batch": [2, 2]})")});
  EXPECT_EQ(choose(Arguments(cpu, 2)), "any");
  EXPECT_EQ(choose(Arguments(cpu, 3)), std::to_string(QM_ERROR_NO_KERNEL));
  EXPECT_NE(strstr(qm_last_error(), "it is for batch 2 to 2, not 3"), nullptr)
      << qm_last_error();
}

TEST_F(Operator, GoesByDevice) {
  make(
      {kernel("wide", "sm_90"), kernel("half", "sm_80"), kernel("any", "cpu")});
  EXPECT_EQ(choose(Arguments(cpu)), "any");
  EXPECT_EQ(choose(Arguments(gpu)), "half");
  EXPECT_EQ(choose(Arguments(hopper)), "wide");
  Arguments arguments(hopper);
  std::vector<qm_value> values = arguments.values();
  EXPECT_EQ(qm_operator_launch(op, values.data(), values.size(), nullptr),
            QM_OK)
      << qm_last_error();
  EXPECT_EQ(qm_operator_prepare(op, gpu), QM_OK);
}

TEST_F(Operator, TakesTheHighestLevelOfThisCpu) {
  make({kernel("any", "generic-cpu"), kernel("any", "x86-64-v4"),
        kernel("any", "x86-64-v3")});
  const qm_kernel *kernel = nullptr;
  ASSERT_EQ(qm_operator_kernel_at(op, 0, &kernel), QM_OK);
  size_t variant = 9;
  ASSERT_EQ(qm_kernel_select(kernel, cpu, &variant), QM_OK);
  qm_variant_info info = {};
  info.size = sizeof info;
  ASSERT_EQ(qm_kernel_get_variant(kernel, variant, &info), QM_OK);
#if defined(__x86_64__)
  EXPECT_STREQ(info.target, __builtin_cpu_supports("avx512vl") ? "x86-64-v4"
                            : __builtin_cpu_supports("avx2")   ? "x86-64-v3"
                                                               : "generic-cpu");
#endif
}

TEST_F(Operator, WhatFitsNothingGetsAListOfWhatThereIs) {
  make({kernel("half", "sm_80", R"("when": {"query": [0, 4]})"),
        replace(kernel("wide", "cpu"), ", 8]", ", 16]")});
  EXPECT_EQ(choose(Arguments(gpu)), std::to_string(QM_ERROR_NO_KERNEL));
  std::string text = qm_last_error();
  for (const char *part :
       {"QM0523: no kernel of operator 'probe' takes this call on CUDA device "
        "0",
        "half (q f32 [?, 4, ?, 8], k f32 [?, 2, ?, 8], v f32 [?, 2, ?, 8]; "
        "query 0 to 4; sm_80 ptx): it is for query 0 to 4, not 6",
        "wide (q f32 [?, 4, ?, 16]", "extent 3 of 'q' is 8, not 16", "help: "})
    EXPECT_NE(text.find(part), text.npos) << text;
}

TEST_F(Operator, WhatNoKernelCouldTakeIsNamedExactly) {
  make({kernel("half", "sm_80"), kernel("any", "cpu")});
  Arguments arguments;
  arguments.q.dl.ndim = 3;
  EXPECT_EQ(choose(arguments), std::to_string(QM_ERROR_TENSOR_RANK));
  arguments.q.dl.ndim = 4;
  std::vector<qm_value> values = arguments.values();
  EXPECT_EQ(qm_operator_launch(op, values.data(), 3, nullptr),
            QM_ERROR_ARGUMENT_COUNT);
  EXPECT_EQ(qm_operator_launch(op, nullptr, values.size(), nullptr),
            QM_ERROR_NULL_ARGUMENT);
  values[1].as.tensor = nullptr;
  EXPECT_EQ(qm_operator_launch(op, values.data(), values.size(), nullptr),
            QM_ERROR_TENSOR_NULL);
}

TEST_F(Operator, BadConditionsAreNotAManifest) {
  for (const char *when :
       {"3", "{\"querry\": [0, 1]}", "{\"query\": [0]}", "{\"query\": [-1, 4]}",
        "{\"query\": [0, \"x\"]}", "{\"query\": 4}"}) {
    std::string text = probe::manifest(
        {probe::entry("cpu", "a", std::string("\"when\": ") + when)});
    EXPECT_EQ(qm_library_create(text.data(), text.size(), nullptr, 0, &library),
              QM_ERROR_MANIFEST_INVALID)
        << when;
    EXPECT_EQ(library, nullptr);
  }
}

TEST_F(Operator, UnknownNamesAndIndicesAreNamed) {
  make({kernel("any", "cpu")});
  const qm_operator *found = nullptr;
  const qm_kernel *kernel = nullptr;
  EXPECT_EQ(qm_library_find_operator(library, "prob", &found),
            QM_ERROR_UNKNOWN_KERNEL);
  EXPECT_EQ(qm_library_operator_at(library, 1, &found), QM_ERROR_INDEX_RANGE);
  EXPECT_EQ(qm_operator_kernel_at(op, 1, &kernel), QM_ERROR_INDEX_RANGE);
  EXPECT_EQ(qm_operator_prepare(op, {kDLVulkan, 0}), QM_ERROR_TENSOR_DEVICE);
}

} // namespace
