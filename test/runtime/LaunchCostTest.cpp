//===- LaunchCostTest.cpp - what a launch costs on the host ---------------===//
//
// The fake driver returns at once, so this is the runtime's own time: checks,
// packing, choice of image and context. malloc is counted by interposition.
//
//===----------------------------------------------------------------------===//

#include "runtime/qm.h"
#include "test/runtime/Probe.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <gtest/gtest.h>

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define QM_SANITIZED 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define QM_SANITIZED 1
#endif
#endif

static std::atomic<long> allocations{0};

#ifndef QM_SANITIZED
extern "C" {
void *__libc_malloc(size_t);
void *__libc_calloc(size_t, size_t);
void *__libc_realloc(void *, size_t);
void *malloc(size_t bytes) {
  ++allocations;
  return __libc_malloc(bytes);
}
void *calloc(size_t count, size_t bytes) {
  ++allocations;
  return __libc_calloc(count, bytes);
}
void *realloc(void *old, size_t bytes) {
  ++allocations;
  return __libc_realloc(old, bytes);
}
}
#endif

namespace {

class LaunchCost : public testing::Test {
protected:
  static void SetUpTestSuite() { setenv("QM_CUDA_DRIVER", QM_FAKE_CUDA, 1); }
};

/// Median over batches of the mean time of a launch, in microseconds.
double timeLaunches(const qm_kernel *kernel,
                    const std::vector<qm_value> &values) {
  constexpr int batches = 200, launches = 200;
  std::vector<double> means;
  means.reserve(batches);
  for (int batch = 0; batch < batches; ++batch) {
    auto start = std::chrono::steady_clock::now();
    for (int i = 0; i < launches; ++i)
      if (qm_launch(kernel, values.data(), values.size(), nullptr))
        return 1e9;
    std::chrono::duration<double, std::micro> elapsed =
        std::chrono::steady_clock::now() - start;
    means.push_back(elapsed.count() / launches);
  }
  std::nth_element(means.begin(), means.begin() + batches / 2, means.end());
  return means[batches / 2];
}

TEST_F(LaunchCost, AGpuLaunchTakesAtMostFiveMicrosecondsOfTheHost) {
  qm_library *library = probe::gpuLibrary({"sm_80:cubin", "sm_90:cubin"});
  const qm_kernel *kernel = probe::kernelOf(library);
  ASSERT_EQ(qm_kernel_prepare(kernel, {kDLCUDA, 0}), QM_OK) << qm_last_error();
  probe::Arguments arguments({kDLCUDA, 0});
  std::vector<qm_value> values = arguments.values();
  double microseconds = timeLaunches(kernel, values);
  printf("host cost of a GPU launch, 8 arguments, fake driver: %.3f us\n",
         microseconds);
  RecordProperty("microseconds", std::to_string(microseconds));
#ifndef QM_SANITIZED // the time of instrumented code says nothing
  EXPECT_LE(microseconds, 5.0);
#endif
  qm_library_destroy(library);
}

TEST_F(LaunchCost, AGpuLaunchAllocatesNothing) {
  qm_library *library = probe::gpuLibrary({"sm_80:cubin"});
  const qm_kernel *kernel = probe::kernelOf(library);
  ASSERT_EQ(qm_kernel_prepare(kernel, {kDLCUDA, 0}), QM_OK) << qm_last_error();
  probe::Arguments arguments({kDLCUDA, 0});
  std::vector<qm_value> values = arguments.values();
  long before = allocations;
  for (int i = 0; i < 100; ++i)
    ASSERT_EQ(qm_launch(kernel, values.data(), values.size(), nullptr), QM_OK);
  EXPECT_EQ(allocations - before, 0);
  qm_library_destroy(library);
}

TEST_F(LaunchCost, ACpuLaunchAllocatesNothingAfterTheFirst) {
  qm_library *library = probe::cpuLibrary();
  const qm_kernel *kernel = probe::kernelOf(library);
  probe::Arguments arguments;
  std::vector<qm_value> values = arguments.values();
  qm_launch_options options = {sizeof options, nullptr, 4, 0};
  ASSERT_EQ(qm_launch(kernel, values.data(), values.size(), &options), QM_OK);
  long before = allocations;
  for (int i = 0; i < 100; ++i)
    ASSERT_EQ(qm_launch(kernel, values.data(), values.size(), &options), QM_OK);
  EXPECT_EQ(allocations - before, 0);
  qm_library_destroy(library);
}

TEST_F(LaunchCost, ARefusedLaunchAllocatesNothing) {
  qm_library *library = probe::cpuLibrary();
  probe::Arguments arguments;
  arguments.q.dl.ndim = 3;
  std::vector<qm_value> values = arguments.values();
  long before = allocations;
  EXPECT_EQ(qm_launch(probe::kernelOf(library), values.data(), values.size(),
                      nullptr),
            QM_ERROR_TENSOR_RANK);
  EXPECT_EQ(allocations - before, 0);
  qm_library_destroy(library);
}

#ifndef QM_SANITIZED
TEST_F(LaunchCost, TheCounterCounts) {
  long before = allocations;
  void *volatile block = malloc(8);
  free(block);
  EXPECT_EQ(allocations - before, 1);
}
#endif

} // namespace
