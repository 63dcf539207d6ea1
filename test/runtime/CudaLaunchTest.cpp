//===- CudaLaunchTest.cpp - GPU launches, on a driver that records --------===//

#include "test/runtime/CudaFixture.h"

#include <atomic>
#include <thread>

using probe::Arguments;

namespace {

using CudaLaunch = CudaFixture;

TEST_F(CudaLaunch, PassesTheContractToTheDriver) {
  const qm_kernel *kernel = load({"sm_80:cubin"});
  fake().kernel = probe::run;
  FakeStream stream = {&fake().primary[0]};
  Arguments arguments(gpu0);
  ASSERT_EQ(launch(kernel, arguments, &stream), QM_OK) << qm_last_error();
  EXPECT_TRUE(arguments.outputsAreRight());
  EXPECT_EQ(fake().launches, 1);
  EXPECT_EQ(fake().last.grid, 2u * 4 * 2);
  EXPECT_EQ(fake().last.block, 128u);
  EXPECT_EQ(fake().last.sharedBytes, 1024u);
  EXPECT_EQ(fake().last.stream, &stream);
  EXPECT_STREQ(fake().requestedEntry, "probe_entry");
  EXPECT_EQ(fake().dynamicShared, 0); // 1 KB needs no asking
}

TEST_F(CudaLaunch, LoadsOnceAContextAndUnloadsWithTheLibrary) {
  const qm_kernel *kernel = load({"sm_80:ptx"});
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(launch(kernel, Arguments(gpu0)), QM_OK);
    EXPECT_EQ(launch(kernel, Arguments(gpu1)), QM_OK);
  }
  EXPECT_EQ(fake().loads, 2);
  EXPECT_EQ(fake().launches, 6);
  library.reset();
  EXPECT_EQ(fake().unloads, 2);
  EXPECT_EQ(current(), nullptr);
}

TEST_F(CudaLaunch, PrepareLoadsAheadOfALaunch) {
  const qm_kernel *kernel = load({"sm_80:ptx"});
  ASSERT_EQ(qm_kernel_prepare(kernel, gpu0), QM_OK);
  EXPECT_EQ(fake().loads, 1);
  EXPECT_EQ(fake().launches, 0);
  EXPECT_EQ(launch(kernel, Arguments(gpu0)), QM_OK);
  EXPECT_EQ(fake().loads, 1);
}

TEST_F(CudaLaunch, ThreadsThatStartTogetherLoadOnce) {
  const qm_kernel *kernel = load({"sm_80:ptx"});
  std::vector<std::thread> threads;
  std::atomic<int> succeeded{0};
  for (int i = 0; i < 8; ++i)
    threads.emplace_back(
        [&] { succeeded += qm_kernel_prepare(kernel, gpu0) == QM_OK; });
  for (std::thread &thread : threads)
    thread.join();
  EXPECT_EQ(succeeded, 8);
  EXPECT_EQ(fake().loads, 1);
}

TEST_F(CudaLaunch, NoQueriesNeedNoDriver) {
  const qm_kernel *kernel = load({"sm_80:ptx"});
  fake().failingFunction = "cuLaunchKernel";
  fake().failure = 1;
  EXPECT_EQ(launch(kernel, Arguments(gpu0, 2, 0, 5)), QM_OK);
  EXPECT_EQ(fake().loads, 0);
}

TEST_F(CudaLaunch, NoKeysAreTheKernelsBusiness) {
  const qm_kernel *kernel = load({"sm_80:ptx"});
  EXPECT_EQ(launch(kernel, Arguments(gpu0, 2, 6, 0)), QM_OK);
  EXPECT_EQ(fake().launches, 1);
}

//--- Contexts and streams ----------------------------------------------------

TEST_F(CudaLaunch, WithoutAContextItIsThePrimaryOne) {
  EXPECT_EQ(launch(load({"sm_80:ptx"}), Arguments(gpu1)), QM_OK);
  EXPECT_EQ(fake().last.context, &fake().primary[1]);
  EXPECT_EQ(current(), nullptr);
}

TEST_F(CudaLaunch, ACurrentContextOfTheDeviceIsUsed) {
  FakeContext own = {0, 77};
  setCurrent(&own);
  EXPECT_EQ(launch(load({"sm_80:ptx"}), Arguments(gpu0)), QM_OK);
  EXPECT_EQ(fake().last.context, &own);
  EXPECT_EQ(current(), &own);
  library.reset(); // while its context exists
}

TEST_F(CudaLaunch, ACurrentContextOfAnotherDeviceIsPutBack) {
  setCurrent(&fake().primary[1]);
  EXPECT_EQ(launch(load({"sm_80:ptx"}), Arguments(gpu0)), QM_OK);
  EXPECT_EQ(fake().last.context, &fake().primary[0]);
  EXPECT_EQ(current(), &fake().primary[1]);
}

TEST_F(CudaLaunch, AStreamBringsItsContext) {
  FakeContext own = {0, 78};
  FakeStream stream = {&own};
  EXPECT_EQ(launch(load({"sm_80:ptx"}), Arguments(gpu0), &stream), QM_OK);
  EXPECT_EQ(fake().last.context, &own);
  library.reset();
}

TEST_F(CudaLaunch, TheNamedDefaultStreamsGoThrough) {
  const qm_kernel *kernel = load({"sm_80:ptx"});
  for (uintptr_t named : {1, 2}) { // legacy, per thread
    auto *stream = reinterpret_cast<void *>(named);
    EXPECT_EQ(launch(kernel, Arguments(gpu0), stream), QM_OK);
    EXPECT_EQ(fake().last.stream, stream);
  }
}

TEST_F(CudaLaunch, ANewContextAtAnOldAddressLoadsAgain) {
  const qm_kernel *kernel = load({"sm_80:ptx"});
  FakeContext reused = {0, 80};
  setCurrent(&reused);
  EXPECT_EQ(launch(kernel, Arguments(gpu0)), QM_OK);
  reused.id = 81;
  EXPECT_EQ(launch(kernel, Arguments(gpu0)), QM_OK);
  EXPECT_EQ(fake().loads, 2);
  library.reset();
}

TEST_F(CudaLaunch, AStreamOfAnotherContextIsRefused) {
  FakeContext own = {0, 79};
  setCurrent(&own);
  FakeStream stream = {&fake().primary[0]};
  expectFailure(load({"sm_80:ptx"}), QM_ERROR_STREAM_CONTEXT,
                "belongs to another context", &stream);
}

TEST_F(CudaLaunch, AStreamOfAnotherDeviceIsRefused) {
  FakeStream stream = {&fake().primary[1]};
  expectFailure(load({"sm_80:ptx"}), QM_ERROR_STREAM_CONTEXT,
                "is on device 101, the tensors are on device 100", &stream);
}

TEST_F(CudaLaunch, AnInvalidStreamIsRefused) {
  fake().failingFunction = "cuStreamGetCtx";
  fake().failure = 400;
  FakeStream stream = {nullptr};
  expectFailure(load({"sm_80:ptx"}), QM_ERROR_STREAM_CONTEXT,
                "is not valid (CUDA error 400)", &stream);
}

//--- Choice of an image ------------------------------------------------------

struct Choice {
  std::vector<std::string> images;
  int onSm80, onSm90; ///< index, or -1
};

TEST_F(CudaLaunch, TheBestImageIsChosen) {
  const Choice choices[] = {
      {{"sm_80:ptx", "sm_80:cubin", "sm_90:cubin"}, 1, 2},
      {{"sm_90:cubin", "sm_90a:cubin", "sm_75:ptx"}, 2, 1},
      {{"sm_75:ptx", "sm_80:ptx", "sm_90:ptx", "sm_90a:ptx"}, 1, 3},
      {{"sm_75:cubin", "sm_86:cubin"}, -1, -1},
      {{"sm_90a:ptx"}, -1, 0},
      {{"sm_100:ptx", "sm_100f:cubin"}, -1, -1},
      {{"sm_80:cubin"}, 0, -1},
      {{"sm_90f:cubin", "sm_80:ptx"}, 1, 0},
  };
  for (const Choice &choice : choices) {
    const qm_kernel *kernel = load(choice.images);
    for (DLDevice device : {gpu0, gpu1}) {
      size_t variant = 99;
      int expected = device.device_id == 0 ? choice.onSm80 : choice.onSm90;
      int status = qm_kernel_select(kernel, device, &variant);
      EXPECT_EQ(status, expected < 0 ? QM_ERROR_NO_IMAGE_FOR_DEVICE : QM_OK);
      if (expected >= 0) {
        EXPECT_EQ(variant, static_cast<size_t>(expected)) << choice.images[0];
      }
    }
  }
}

TEST_F(CudaLaunch, PtxForALaterGpuIsNotTried) {
  expectFailure(load({"sm_90:ptx"}), QM_ERROR_NO_IMAGE_FOR_DEVICE,
                "sm_90:ptx for sm_90");
  EXPECT_EQ(fake().loads, 0);
}

TEST_F(CudaLaunch, NoImageForTheDeviceNamesWhatThereIs) {
  expectFailure(load({"sm_90:cubin", "sm_90a:ptx"}),
                QM_ERROR_NO_IMAGE_FOR_DEVICE,
                "(compute capability 8.0); it has sm_90:cubin for sm_90, "
                "sm_90a:ptx for sm_90a\nhelp: build it with --arch=sm_80");
}

//--- What the driver refuses -------------------------------------------------

TEST_F(CudaLaunch, ACorruptCubinIsRefused) {
  fake().failingFunction = "cuModuleLoadDataEx";
  fake().failure = 200;
  expectFailure(load({"sm_80:cubin"}), QM_ERROR_IMAGE_REJECTED,
                "rejects image 'sm_80:cubin' (target sm_80, CUDA error 200)");
}

TEST_F(CudaLaunch, TheJitsLogIsInTheMessage) {
  fake().failingFunction = "cuModuleLoadDataEx";
  fake().failure = 218;
  fake().jitLog = "ptxas application ptx input, line 7; fatal: no such opcode";
  expectFailure(load({"sm_80:ptx"}), QM_ERROR_IMAGE_REJECTED, "no such opcode");
}

TEST_F(CudaLaunch, AnImageForAnotherGpuOrALaterDriverIsRefused) {
  for (int code : {209, 222}) {
    fake().failingFunction = "cuModuleLoadDataEx";
    fake().failure = code;
    expectFailure(load({"sm_80:ptx"}), QM_ERROR_IMAGE_UNSUPPORTED,
                  "has no code that this GPU");
  }
}

TEST_F(CudaLaunch, AFailedLoadIsTriedAgain) {
  const qm_kernel *kernel = load({"sm_80:ptx"});
  fake().failingFunction = "cuModuleLoadDataEx";
  fake().failure = 2;
  expectFailure(kernel, QM_ERROR_DRIVER_CALL,
                "CUDA error 2, CUDA_ERROR_FAKE (injected by a test)");
  fake().failingFunction = nullptr;
  EXPECT_EQ(launch(kernel, Arguments(gpu0)), QM_OK);
}

TEST_F(CudaLaunch, AnImageWithoutTheEntryIsRefused) {
  fake().failingFunction = "cuModuleGetFunction";
  fake().failure = 500;
  expectFailure(load({"sm_80:ptx"}), QM_ERROR_IMAGE_REJECTED,
                "has no entry 'probe_entry'");
  EXPECT_EQ(fake().unloads, 1);
}

TEST_F(CudaLaunch, AnImageWithOtherSlotsIsRefused) {
  fake().slots = 40;
  expectFailure(load({"sm_80:ptx"}), QM_ERROR_IMAGE_REJECTED,
                "parameter 0 of entry 'probe_entry' of image 'sm_80:ptx' has "
                "320 bytes, the manifest says 384");
  EXPECT_EQ(fake().unloads, 1);
}

TEST_F(CudaLaunch, LargeSharedMemoryIsAskedFor) {
  EXPECT_EQ(
      launch(load({"sm_80:ptx"}, R"("shared_bytes": 65536)"), Arguments(gpu0)),
      QM_OK);
  EXPECT_EQ(fake().dynamicShared, 65536);
  EXPECT_EQ(fake().last.sharedBytes, 65536u);
}

TEST_F(CudaLaunch, MoreSharedMemoryThanTheGpuHasIsRefused) {
  const qm_kernel *kernel = load({"sm_80:ptx"}, R"("shared_bytes": 200000)");
  expectFailure(kernel, QM_ERROR_KERNEL_LIMITS,
                "needs 200000 bytes of shared memory, this GPU (compute "
                "capability 8.0) has 166912");
  EXPECT_EQ(launch(kernel, Arguments(gpu1)), QM_OK); // has 232448
}

TEST_F(CudaLaunch, MoreThreadsThanTheImageAllowsAreRefused) {
  fake().maxThreads = 64;
  expectFailure(load({"sm_80:ptx"}), QM_ERROR_KERNEL_LIMITS,
                "needs 128 threads a CTA, its image allows 64");
}

TEST_F(CudaLaunch, EveryFailingCallIsReported) {
  for (const char *function :
       {"cuCtxGetCurrent", "cuCtxPushCurrent", "cuFuncGetAttribute",
        "cuFuncSetAttribute", "cuModuleGetFunction", "cuLaunchKernel"}) {
    const qm_kernel *kernel = load({"sm_80:ptx"}, R"("shared_bytes": 65536)");
    fake().failingFunction = function;
    fake().failure = 719;
    SCOPED_TRACE(function);
    expectFailure(kernel, QM_ERROR_DRIVER_CALL, "CUDA error 719");
    fake().failingFunction = nullptr;
  }
}

TEST_F(CudaLaunch, LoadsWhileAStreamIsCaptured) {
  const qm_kernel *kernel = load({"sm_80:cubin"});
  fake().anyCapture = true;
  EXPECT_EQ(launch(kernel, Arguments(gpu0)), QM_OK) << qm_last_error();
  EXPECT_EQ(fake().captureMode, 0); // the thread's own is back
}

TEST_F(CudaLaunch, MisuseDuringCaptureIsNamed) {
  const qm_kernel *kernel = load({"sm_80:cubin"});
  fake().failingFunction = "cuLaunchKernel";
  for (int error : {900, 906, 908}) {
    fake().failure = error;
    expectFailure(kernel, QM_ERROR_STREAM_CAPTURE,
                  "on the captured stream only");
  }
}

TEST_F(CudaLaunch, UnknownDevicesAreRefused) {
  const qm_kernel *kernel = load({"sm_80:ptx"});
  for (int ordinal : {2, -1}) {
    DLDevice device = {kDLCUDA, ordinal};
    expectFailure(kernel, QM_ERROR_NO_SUCH_DEVICE, "this process sees 2",
                  nullptr, device);
    EXPECT_EQ(qm_kernel_prepare(kernel, device), QM_ERROR_NO_SUCH_DEVICE);
  }
}

TEST_F(CudaLaunch, MoreTilesThanAGridHasAreRefused) {
  const qm_kernel *kernel = load({"sm_80:ptx"});
  Arguments arguments(gpu0);
  for (probe::Tensor *tensor : {&arguments.q, &arguments.o, &arguments.lse}) {
    tensor->shape[2] = (1 << 30) - 1;
    tensor->strides[0] = tensor->strides[1] = 8;
  }
  EXPECT_EQ(launch(kernel, arguments), QM_ERROR_INDEX_RANGE);
  EXPECT_NE(strstr(qm_last_error(), "1073741823 queries in tiles of 4"),
            nullptr)
      << qm_last_error();
  EXPECT_EQ(fake().launches, 0);
}

} // namespace
