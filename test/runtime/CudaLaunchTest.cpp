//===- CudaLaunchTest.cpp - GPU launches, on a driver that records --------===//

#include "runtime/qm.h"
#include "test/runtime/Probe.h"
#include "test/runtime/fake_cuda.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <dlfcn.h>
#include <gtest/gtest.h>
#include <memory>
#include <set>
#include <thread>

using probe::Arguments;

namespace {

constexpr DLDevice gpu0 = {kDLCUDA, 0}, gpu1 = {kDLCUDA, 1};

class CudaLaunch : public testing::Test {
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

  static int launch(const qm_kernel *kernel, const Arguments &arguments,
                    void *stream = nullptr) {
    std::vector<qm_value> values = arguments.values();
    qm_launch_options options = {sizeof options, stream, 0, 0};
    return qm_launch(kernel, values.data(), values.size(), &options);
  }

  void expectFailure(const qm_kernel *kernel, int status, const char *message,
                     void *stream = nullptr, DLDevice device = gpu0) {
    Arguments arguments(device);
    FakeContext *before = current();
    EXPECT_EQ(launch(kernel, arguments, stream), status);
    EXPECT_NE(strstr(qm_last_error(), message), nullptr) << qm_last_error();
    EXPECT_TRUE(arguments.outputsAreUntouched());
    EXPECT_EQ(fake().launches, 0);
    EXPECT_EQ(current(), before);
  }

  static FakeCuda *(*getFake)();
  static FakeContext *(*current)();
  static void (*setCurrent)(FakeContext *);
  std::unique_ptr<qm_library, void (*)(qm_library *)> library{
      nullptr, qm_library_destroy};
};

FakeCuda *(*CudaLaunch::getFake)();
FakeContext *(*CudaLaunch::current)();
void (*CudaLaunch::setCurrent)(FakeContext *);

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
      if (expected >= 0)
        EXPECT_EQ(variant, static_cast<size_t>(expected)) << choice.images[0];
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
    tensor->shape[2] = INT32_MAX;
    tensor->strides[0] = tensor->strides[1] = 8;
  }
  EXPECT_EQ(launch(kernel, arguments), QM_ERROR_INDEX_RANGE);
  EXPECT_NE(strstr(qm_last_error(), "2147483647 queries in tiles of 4"),
            nullptr)
      << qm_last_error();
  EXPECT_EQ(fake().launches, 0);
}

//--- Kernels that copy by tensor maps -----------------------------------------

const char *const withMaps = R"("ctas_per_sm": 2, "tensor_maps": [
  {"argument": "q", "box": [64, 128, 1, 1], "swizzle_bytes": 128},
  {"argument": "k", "box": [8, 16, 1, 1], "swizzle_bytes": 0}])";

FakeTensorMap readMap(const FakeLaunch &launch, int index) {
  FakeTensorMap map;
  memcpy(&map, launch.maps[index], sizeof map);
  return map;
}

TEST_F(CudaLaunch, TensorMapsFollowTheSlots) {
  fake().tensorMaps = 2;
  const qm_kernel *kernel = load({"sm_80:ptx"}, withMaps);
  Arguments arguments(gpu0);
  ASSERT_EQ(launch(kernel, arguments), QM_OK) << qm_last_error();
  FakeTensorMap q = readMap(fake().last, 0), k = readMap(fake().last, 1);
  EXPECT_EQ(q.address, arguments.q.data.data());
  EXPECT_EQ(q.type, 7); // FLOAT32
  EXPECT_EQ(q.rank, 4);
  EXPECT_EQ(q.swizzle, 3); // 128 bytes
  // [2, 4, 6, 8] from the last dimension on; strides in bytes.
  EXPECT_TRUE(
      std::equal(q.extents, q.extents + 4, std::begin({8ul, 6ul, 4ul, 2ul})));
  EXPECT_TRUE(
      std::equal(q.strides, q.strides + 3, std::begin({32ul, 192ul, 768ul})));
  EXPECT_TRUE(std::equal(q.box, q.box + 4, std::begin({64u, 128u, 1u, 1u})));
  EXPECT_EQ(k.address, arguments.k.data.data());
  EXPECT_EQ(k.swizzle, 0);
  EXPECT_EQ(k.extents[1], 5u);
}

TEST_F(CudaLaunch, MapsOfACallThatComesAgainAreKept) {
  fake().tensorMaps = 2;
  const qm_kernel *kernel = load({"sm_80:ptx"}, withMaps);
  Arguments first(gpu0), second(gpu0, 1);
  for (int round = 0; round < 3; ++round)
    for (const Arguments *arguments : {&first, &second}) {
      ASSERT_EQ(launch(kernel, *arguments), QM_OK) << qm_last_error();
      EXPECT_EQ(readMap(fake().last, 0).address, arguments->q.data.data());
      EXPECT_EQ(readMap(fake().last, 1).address, arguments->k.data.data());
    }
  EXPECT_EQ(fake().encodes, 4);
  // As many as are kept: the oldest goes.
  for (int64_t queries : {1, 2, 3})
    ASSERT_EQ(launch(kernel, Arguments(gpu0, 1, queries)), QM_OK);
  ASSERT_EQ(launch(kernel, first), QM_OK);
  EXPECT_EQ(fake().encodes, 4 + 6 + 2);
  EXPECT_EQ(readMap(fake().last, 0).extents[1], 6u);
}

TEST_F(CudaLaunch, AGridOfSeveralTilesACtaIsNoLargerThanTheGpu) {
  fake().tensorMaps = 2;
  const qm_kernel *kernel = load({"sm_80:ptx"}, withMaps);
  EXPECT_EQ(launch(kernel, Arguments(gpu0)), QM_OK); // 16 tiles
  EXPECT_EQ(fake().last.grid, 6u);                   // 2 on each of 3
  EXPECT_EQ(launch(kernel, Arguments(gpu0, 1, 3, 5)), QM_OK);
  EXPECT_EQ(fake().last.grid, 4u); // no more than there are tiles
}

TEST_F(CudaLaunch, EmptyAndSingleDimensionsMakeValidMaps) {
  fake().tensorMaps = 2;
  const qm_kernel *kernel = load({"sm_80:ptx"}, withMaps);
  Arguments arguments(gpu0, 1, 6, 0);
  arguments.k.dl.data = arguments.v.dl.data = nullptr;
  arguments.q.strides[0] = 1; // of a single batch
  ASSERT_EQ(launch(kernel, arguments), QM_OK) << qm_last_error();
  FakeTensorMap q = readMap(fake().last, 0), k = readMap(fake().last, 1);
  EXPECT_EQ(q.strides[2], 16u);
  EXPECT_EQ(k.address, arguments.q.data.data());
  EXPECT_EQ(k.extents[1], 1u);
}

TEST_F(CudaLaunch, StridesThatAMapCannotHaveAreRefused) {
  fake().tensorMaps = 2;
  const qm_kernel *kernel = load({"sm_80:ptx"}, withMaps);
  for (int64_t stride : {-80LL, 1LL << 38}) {
    Arguments arguments(gpu0);
    arguments.k.strides[0] = stride;
    EXPECT_EQ(launch(kernel, arguments), QM_ERROR_TENSOR_STRIDE) << stride;
    EXPECT_NE(strstr(qm_last_error(), "'k' has a stride of"), nullptr);
  }
  EXPECT_EQ(fake().launches, 0);
}

TEST_F(CudaLaunch, AMapTheDriverRefusesIsReported) {
  fake().tensorMaps = 2;
  fake().failingFunction = "cuTensorMapEncodeTiled";
  fake().failure = 1;
  expectFailure(load({"sm_80:ptx"}, withMaps), QM_ERROR_DRIVER_CALL,
                "cannot encode a tensor map: CUDA error 1");
}

TEST_F(CudaLaunch, ParametersOfImageAndManifestMustAgree) {
  fake().tensorMaps = 1;
  expectFailure(load({"sm_80:ptx"}, withMaps), QM_ERROR_IMAGE_REJECTED,
                "parameter 2 of entry 'probe_entry'");
  expectFailure(load({"sm_80:ptx"}), QM_ERROR_IMAGE_REJECTED,
                "has more than the 1 parameters of the manifest");
}

//--- Kernels with a run-time order of tiles
//-------------------------------------

const char *const withCounters = R"("ctas_per_sm": 1, "tile_counters": 3)";

class TileCounters : public CudaLaunch {
protected:
  void SetUp() override {
    CudaLaunch::SetUp();
    fake().tileCounter = true;
    kernel = load({"sm_80:ptx"}, withCounters);
  }
  void TearDown() override {
    fake().tileCounter = false;
    CudaLaunch::TearDown();
  }
  int counterOf(FakeStream &stream) {
    EXPECT_EQ(launch(kernel, Arguments(gpu0), &stream), QM_OK)
        << qm_last_error();
    return fake().last.tileCounter;
  }
  const qm_kernel *kernel;
};

TEST_F(TileCounters, AStreamKeepsItsCounterAndSharesItWithNoOther) {
  FakeContext *context = &fake().primary[0];
  FakeStream a = {context, 7}, b = {context, 10}, c = {context, 12};
  int ofA = counterOf(a), ofB = counterOf(b), ofC = counterOf(c);
  EXPECT_EQ((std::set<int>{ofA, ofB, ofC}), (std::set<int>{0, 1, 2}));
  EXPECT_EQ(counterOf(b), ofB);
  EXPECT_EQ(counterOf(a), ofA);
  // A fourth stream has to do without.
  FakeStream d = {context, 13};
  EXPECT_EQ(counterOf(d), -1);
  // A new stream at an old one's address is another stream.
  a.id = 14;
  EXPECT_EQ(counterOf(a), -1);
}

TEST_F(TileCounters, AGraphMayRunBesideItselfAndGetsNone) {
  FakeStream stream = {&fake().primary[0], 7, /*capturing=*/true};
  EXPECT_EQ(counterOf(stream), -1);
  stream.capturing = false;
  EXPECT_GE(counterOf(stream), 0);
}

TEST_F(TileCounters, AStreamThatCannotBeToldApartGetsNone) {
  fake().failingFunction = "cuStreamGetId";
  fake().failure = 400;
  FakeStream stream = {&fake().primary[0], 7};
  EXPECT_EQ(counterOf(stream), -1);
  fake().failingFunction = nullptr;
}

} // namespace
