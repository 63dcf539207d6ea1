//===- CudaFixture.h - tests on the fake driver -----------------*- C++ -*-===//
#pragma once

#include "runtime/qm.h"
#include "test/runtime/Probe.h"
#include "test/runtime/fake_cuda.h"

#include <cstdlib>
#include <cstring>
#include <dlfcn.h>
#include <gtest/gtest.h>
#include <memory>

constexpr DLDevice gpu0 = {kDLCUDA, 0}, gpu1 = {kDLCUDA, 1};

/// Two GPUs, nothing loaded, no context current. `load` makes a library that
/// the fixture owns.
class CudaFixture : public testing::Test {
protected:
  static void SetUpTestSuite() {
    setenv("QM_CUDA_DRIVER", QM_FAKE_CUDA, 1);
    void *driver = dlopen(QM_FAKE_CUDA, RTLD_NOW);
    ASSERT_NE(driver, nullptr) << dlerror();
    getFake = reinterpret_cast<FakeCuda *(*)()>(dlsym(driver, "fakeCuda"));
    current =
        reinterpret_cast<FakeContext *(*)()>(dlsym(driver, "fakeCudaCurrent"));
    setCurrent = reinterpret_cast<void (*)(FakeContext *)>(
        dlsym(driver, "fakeCudaSetCurrent"));
    *getFake() = FakeCuda(); // another suite may have left its own
    // The runtime reads the machine once: it has these two GPUs for good.
    qm_library *library = probe::gpuLibrary({"sm_80:ptx"});
    ASSERT_EQ(qm_kernel_prepare(probe::kernelOf(library), gpu0), QM_OK)
        << qm_last_error();
    qm_library_destroy(library);
  }

  void SetUp() override {
    *getFake() = FakeCuda();
    setCurrent(nullptr);
  }
  void TearDown() override {
    fake().failingFunction = nullptr;
    library.reset();
  }

  FakeCuda &fake() { return *getFake(); }

  const qm_kernel *load(const std::vector<std::string> &images,
                        const std::string &fields = "") {
    library.reset(probe::gpuLibrary(images, fields));
    return probe::kernelOf(library.get());
  }

  static int launch(const qm_kernel *kernel, const probe::Arguments &arguments,
                    void *stream = nullptr) {
    std::vector<qm_value> values = arguments.values();
    qm_launch_options options = {sizeof options, stream, 0, 0};
    return qm_launch(kernel, values.data(), values.size(), &options);
  }

  void expectFailure(const qm_kernel *kernel, int status, const char *message,
                     void *stream = nullptr, DLDevice device = gpu0) {
    probe::Arguments arguments(device);
    FakeContext *before = current();
    EXPECT_EQ(launch(kernel, arguments, stream), status);
    EXPECT_NE(strstr(qm_last_error(), message), nullptr) << qm_last_error();
    EXPECT_TRUE(arguments.outputsAreUntouched());
    EXPECT_EQ(fake().launches, 0);
    EXPECT_EQ(current(), before);
  }

  static inline FakeCuda *(*getFake)();
  static inline FakeContext *(*current)();
  static inline void (*setCurrent)(FakeContext *);
  std::unique_ptr<qm_library, void (*)(qm_library *)> library{
      nullptr, qm_library_destroy};
};
