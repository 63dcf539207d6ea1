//===- NoDriverTest.cpp - machines without a driver, or with an old one ---===//

#include "runtime/qm.h"
#include "test/runtime/Probe.h"

#include <cstdlib>
#include <cstring>
#include <gtest/gtest.h>

namespace {

// One test, as a process finds its driver once: a failure is tried again, a
// success stays.
TEST(NoDriver, EachFailureIsNamedAndTheNextCallTriesAgain) {
  qm_library *library = probe::gpuLibrary({"sm_80:ptx"});
  const qm_kernel *kernel = probe::kernelOf(library);
  probe::Arguments arguments({kDLCUDA, 0});
  std::vector<qm_value> values = arguments.values();
  auto launch = [&] {
    return qm_launch(kernel, values.data(), values.size(), nullptr);
  };

  setenv("QM_CUDA_DRIVER", "/nowhere/libcuda.so.1", 1);
  EXPECT_EQ(launch(), QM_ERROR_NO_DRIVER);
  EXPECT_NE(strstr(qm_last_error(), "/nowhere/libcuda.so.1"), nullptr)
      << qm_last_error();
  EXPECT_EQ(qm_kernel_prepare(kernel, {kDLCUDA, 0}), QM_ERROR_NO_DRIVER);
  size_t variant = 0;
  EXPECT_EQ(qm_kernel_select(kernel, {kDLCUDA, 0}, &variant),
            QM_ERROR_NO_DRIVER);

  setenv("QM_CUDA_DRIVER", QM_OLD_CUDA, 1);
  EXPECT_EQ(launch(), QM_ERROR_DRIVER_SYMBOL);
  EXPECT_NE(strstr(qm_last_error(), "no function cuStreamGetCtx"), nullptr)
      << qm_last_error();

  setenv("QM_CUDA_DRIVER", QM_FAKE_CUDA, 1);
  setenv("FAKE_CUDA_INIT", "100", 1); // CUDA_ERROR_NO_DEVICE
  EXPECT_EQ(launch(), QM_ERROR_DRIVER_CALL);
  EXPECT_NE(strstr(qm_last_error(), "does not start: CUDA error 100"), nullptr)
      << qm_last_error();
  EXPECT_TRUE(arguments.outputsAreUntouched());

  unsetenv("FAKE_CUDA_INIT");
  EXPECT_EQ(launch(), QM_OK) << qm_last_error();
  setenv("QM_CUDA_DRIVER", "/nowhere/libcuda.so.1", 1);
  EXPECT_EQ(launch(), QM_OK) << qm_last_error();
  qm_library_destroy(library);
}

} // namespace
