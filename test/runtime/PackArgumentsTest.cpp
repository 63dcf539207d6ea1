//===- PackArgumentsTest.cpp - slots of good calls, errors of bad ones ----===//

#include "runtime/PackArguments.h"
#include "runtime/Error.h"
#include "runtime/Library.h"
#include "test/runtime/Probe.h"

#include <bit>
#include <cstring>
#include <functional>
#include <gtest/gtest.h>
#include <memory>

using namespace qm::runtime;
using probe::Arguments;

namespace {

constexpr DLDevice cpu = {kDLCPU, 0}, gpu = {kDLCUDA, 0};

class PackArguments : public testing::Test {
protected:
  std::unique_ptr<qm_library, void (*)(qm_library *)> library{
      probe::cpuLibrary(), qm_library_destroy};
  const Kernel *kernel = static_cast<const Kernel *>(
      findHandle(HandleKind::Kernel, probe::kernelOf(library.get())));
  const Signature &signature = kernel->signature;
  PackedCall call;

  int pack(const std::vector<qm_value> &values) {
    return packArguments(signature, values.data(), values.size(), call);
  }
  int pack(const Arguments &arguments) { return pack(arguments.values()); }
};

TEST_F(PackArguments, WritesTheLaunchContract) {
  Arguments arguments;
  arguments.window = -7;
  ASSERT_EQ(pack(arguments), QM_OK) << lastError();
  auto address = [](const probe::Tensor &tensor) {
    return reinterpret_cast<int64_t>(tensor.data.data());
  };
  std::vector<int64_t> expected = {address(arguments.q),
                                   2,
                                   4,
                                   6,
                                   8,
                                   192,
                                   48,
                                   8,
                                   1, // q
                                   address(arguments.k),
                                   2,
                                   2,
                                   5,
                                   8,
                                   80,
                                   40,
                                   8,
                                   1, // k
                                   address(arguments.v),
                                   2,
                                   2,
                                   5,
                                   8,
                                   80,
                                   40,
                                   8,
                                   1, // v
                                   address(arguments.bias),
                                   7,
                                   1, // bias
                                   -7,
                                   0x3f000000, // window, cap = 0.5
                                   address(arguments.o),
                                   2,
                                   4,
                                   6,
                                   8,
                                   192,
                                   48,
                                   8,
                                   1, // o
                                   address(arguments.lse),
                                   2,
                                   4,
                                   6,
                                   24,
                                   6,
                                   1}; // lse
  EXPECT_EQ(std::vector<int64_t>(call.slots, call.slots + signature.slots),
            expected);
  EXPECT_EQ(call.device.device_type, kDLCPU);
  EXPECT_EQ(call.tiles(4), 2 * 4 * 2);
  EXPECT_EQ(call.tiles(6), 2 * 4 * 1);
}

TEST_F(PackArguments, NegativeScalarBitsStayInTheLowHalf) {
  Arguments arguments;
  arguments.cap = -0.0f;
  ASSERT_EQ(pack(arguments), QM_OK);
  EXPECT_EQ(call.slots[31], 0x80000000);
}

TEST_F(PackArguments, NullStridesMeanCompactRowMajor) {
  Arguments arguments, compact;
  for (probe::Tensor *tensor : {&arguments.q, &arguments.k, &arguments.lse})
    tensor->dl.strides = nullptr;
  ASSERT_EQ(pack(arguments), QM_OK) << lastError();
  EXPECT_EQ(call.slots[5], 192);
  EXPECT_EQ(call.slots[8], 1);
  EXPECT_EQ(call.slots[47], 1);
}

TEST_F(PackArguments, ByteOffsetMovesElementZero) {
  Arguments arguments;
  arguments.k.shape[2] = arguments.v.shape[2] = 4; // room for an offset
  arguments.k.dl.byte_offset = 32;
  ASSERT_EQ(pack(arguments), QM_OK) << lastError();
  EXPECT_EQ(call.slots[9],
            reinterpret_cast<int64_t>(arguments.k.data.data()) + 32);
}

TEST_F(PackArguments, BroadcastAndNegativeStridesAreLegalForInputs) {
  Arguments arguments;
  arguments.k.strides = {0, 0, 8, 1};
  arguments.bias.strides = {-1};
  EXPECT_EQ(pack(arguments), QM_OK) << lastError();
}

TEST_F(PackArguments, StridesOfSingleElementsDoNotMatter) {
  Arguments arguments(gpu, 1, 6, 5);
  arguments.q.strides[0] = 3; // of an extent of 1, as PyTorch may give
  EXPECT_EQ(pack(arguments), QM_OK) << lastError();
}

TEST_F(PackArguments, EmptySequencesAreLegal) {
  Arguments noQueries(cpu, 2, 0, 5), noKeys(cpu, 2, 6, 0), noBatch(cpu, 0);
  noKeys.k.dl.data = noKeys.v.dl.data = nullptr; // nothing to point at
  EXPECT_EQ(pack(noQueries), QM_OK) << lastError();
  EXPECT_EQ(call.tiles(4), 0);
  EXPECT_EQ(pack(noKeys), QM_OK) << lastError();
  EXPECT_EQ(call.tiles(4), 16);
  EXPECT_EQ(pack(noBatch), QM_OK) << lastError();
  EXPECT_EQ(call.tiles(4), 0);
}

TEST_F(PackArguments, PinnedMemoryIsHostMemory) {
  Arguments arguments(DLDevice{kDLCUDAHost, 0});
  ASSERT_EQ(pack(arguments), QM_OK) << lastError();
  EXPECT_EQ(call.device.device_type, kDLCPU);
}

TEST_F(PackArguments, ManagedMemoryGoesWithAnyGpu) {
  Arguments arguments(DLDevice{kDLCUDA, 1});
  arguments.q.dl.device = {kDLCUDAManaged, 0};
  ASSERT_EQ(pack(arguments), QM_OK) << lastError();
  EXPECT_EQ(call.device.device_type, kDLCUDA);
  EXPECT_EQ(call.device.device_id, 1);
}

TEST_F(PackArguments, AllocatedTilesAreLimitedToAGrid) {
  Arguments arguments;
  for (probe::Tensor *tensor : {&arguments.q, &arguments.o, &arguments.lse}) {
    tensor->shape[2] = (1 << 30) - 1; // 2 * 4 * 2^30 / 4 tiles
    tensor->strides[0] = tensor->strides[1] = 8;
  }
  ASSERT_EQ(pack(arguments), QM_OK) << lastError();
  EXPECT_EQ(call.tiles(4), -1);
  EXPECT_EQ(call.tiles(64), 8LL << 24);
}

TEST_F(PackArguments, BoolsComeInThreeForms) {
  EXPECT_TRUE(matches({6, 8, 1}, DataType::I1));
  EXPECT_TRUE(matches({kDLUInt, 8, 1}, DataType::I1));
  EXPECT_TRUE(matches({kDLUInt, 1, 1}, DataType::I1));
  EXPECT_FALSE(matches({kDLInt, 8, 1}, DataType::I1));
  EXPECT_FALSE(matches({kDLUInt, 8, 1}, DataType::I8));
}

/// A call with one thing wrong.
struct BadCall {
  const char *name;
  DLDevice device;
  std::function<void(Arguments &, std::vector<qm_value> &)> damage;
  int status;
  const char *message;
};

const BadCall badCalls[] = {
    {"TooFew", cpu, [](Arguments &, auto &values) { values.pop_back(); },
     QM_ERROR_ARGUMENT_COUNT, "7 arguments, kernel 'probe' takes 8"},
    {"NullTensor", cpu,
     [](Arguments &, auto &values) { values[2] = qm_tensor(nullptr); },
     QM_ERROR_TENSOR_NULL, "argument 2 of kernel 'probe', 'v', is a null"},
    {"ScalarForTensor", cpu,
     [](Arguments &, auto &values) { values[3] = qm_i32(1); },
     QM_ERROR_ARGUMENT_KIND, "'bias', has value kind 2, not 1"},
    {"FloatForInt", cpu,
     [](Arguments &, auto &values) { values[4] = qm_f32(1); },
     QM_ERROR_ARGUMENT_KIND, "make it with qm_i32"},
    {"IntForFloat", cpu,
     [](Arguments &, auto &values) { values[5] = qm_i32(1); },
     QM_ERROR_ARGUMENT_KIND, "make it with qm_f32"},
    {"UnknownKind", cpu, [](Arguments &, auto &values) { values[0].kind = 77; },
     QM_ERROR_ARGUMENT_KIND, "value kind 77"},
    {"OtherDeviceType", cpu,
     [](Arguments &arguments, auto &) {
       arguments.q.dl.device.device_type = kDLVulkan;
     },
     QM_ERROR_TENSOR_DEVICE, "'q' is on DLPack device type 7"},
    {"MixedDevices", gpu,
     [](Arguments &arguments, auto &) { arguments.v.dl.device = cpu; },
     QM_ERROR_TENSOR_DEVICE,
     "'v' is on CPU device 0, the call runs on CUDA device 0"},
    {"TwoGpus", gpu,
     [](Arguments &arguments, auto &) { arguments.o.dl.device.device_id = 1; },
     QM_ERROR_TENSOR_DEVICE, "'o' is on CUDA device 1"},
    {"WrongDtype", cpu,
     [](Arguments &arguments, auto &) {
       arguments.k.dl.dtype = {kDLBfloat, 16, 1};
     },
     QM_ERROR_TENSOR_DTYPE,
     "'k' holds bf16 (DLPack code 4, bits 16, lanes 1), the kernel needs f32"},
    {"VectorDtype", cpu,
     [](Arguments &arguments, auto &) { arguments.k.dl.dtype.lanes = 2; },
     QM_ERROR_TENSOR_DTYPE, "lanes 2"},
    {"WrongRank", cpu,
     [](Arguments &arguments, auto &) { arguments.lse.dl.ndim = 4; },
     QM_ERROR_TENSOR_RANK, "'lse' has rank 4, the kernel needs rank 3"},
    {"NegativeRank", cpu,
     [](Arguments &arguments, auto &) { arguments.q.dl.ndim = -1; },
     QM_ERROR_TENSOR_RANK, "'q' has rank -1"},
    {"NullShape", cpu,
     [](Arguments &arguments, auto &) { arguments.q.dl.shape = nullptr; },
     QM_ERROR_TENSOR_NULL, "null shape"},
    {"NegativeExtent", cpu,
     [](Arguments &arguments, auto &) { arguments.q.shape[2] = -6; },
     QM_ERROR_TENSOR_SIZE, "'q' has extent -6 in dimension 2"},
    {"HugeExtent", cpu,
     [](Arguments &arguments, auto &) { arguments.k.shape[2] = 1LL << 31; },
     QM_ERROR_TENSOR_SIZE, "'k' has extent 2147483648"},
    {"LongQueries", cpu,
     [](Arguments &arguments, auto &) {
       for (probe::Tensor *tensor :
            {&arguments.q, &arguments.o, &arguments.lse}) {
         tensor->shape[2] = 1 << 30;
         tensor->strides[0] = tensor->strides[1] = 8;
       }
     },
     QM_ERROR_TENSOR_SIZE, "'q' has 1073741824 rows; sequences have fewer"},
    {"LongKeys", cpu,
     [](Arguments &arguments, auto &) {
       for (probe::Tensor *tensor : {&arguments.k, &arguments.v}) {
         tensor->shape[2] = 1 << 30;
         tensor->strides[0] = tensor->strides[1] = 8;
       }
     },
     QM_ERROR_TENSOR_SIZE, "'k' has 1073741824 rows; sequences have fewer"},
    {"CompactOverflow", cpu,
     [](Arguments &arguments, auto &) {
       arguments.q.dl.strides = nullptr;
       arguments.q.shape[0] = arguments.q.shape[2] = INT32_MAX;
     },
     QM_ERROR_TENSOR_SIZE, "reach past 2^63 bytes"},
    {"StrideOverflow", cpu,
     [](Arguments &arguments, auto &) { arguments.q.strides[0] = INT64_MAX; },
     QM_ERROR_TENSOR_SIZE, "'q' reach past 2^63 bytes"},
    {"NegativeStrideOverflow", cpu,
     [](Arguments &arguments, auto &) {
       arguments.q.strides[0] = arguments.q.strides[1] = INT64_MIN / 8;
     },
     QM_ERROR_TENSOR_SIZE, "'q' reach past 2^63 bytes"},
    {"OffsetOverflow", cpu,
     [](Arguments &arguments, auto &) {
       arguments.q.dl.byte_offset = UINT64_MAX;
     },
     QM_ERROR_TENSOR_SIZE, "past the end of memory"},
    {"EmptyBuffer", cpu,
     [](Arguments &arguments, auto &) { arguments.bias.shape[0] = 0; },
     QM_ERROR_TENSOR_SIZE, "buffer 'bias' is empty"},
    {"StaticExtent", cpu,
     [](Arguments &arguments, auto &) { arguments.q.shape[1] = 5; },
     QM_ERROR_TENSOR_SHAPE,
     "'q' has extent 5 in dimension 1, the kernel was built for 4"},
    {"BatchMismatch", cpu,
     [](Arguments &arguments, auto &) { arguments.k.shape[0] = 1; },
     QM_ERROR_TENSOR_SHAPE, "extent 0 of 'q' is 2 but extent 0 of 'k' is 1"},
    {"KeyMismatch", cpu,
     [](Arguments &arguments, auto &) { arguments.v.shape[2] = 4; },
     QM_ERROR_TENSOR_SHAPE, "extent 2 of 'k' is 5 but extent 2 of 'v' is 4"},
    {"OutputMismatch", cpu,
     [](Arguments &arguments, auto &) { arguments.o.shape[2] = 5; },
     QM_ERROR_TENSOR_SHAPE, "extent 2 of 'q' is 6 but extent 2 of 'o' is 5"},
    {"LseMismatch", cpu,
     [](Arguments &arguments, auto &) { arguments.lse.shape[2] = 7; },
     QM_ERROR_TENSOR_SHAPE, "extent 2 of 'lse' is 7"},
    {"LastStride", cpu,
     [](Arguments &arguments, auto &) { arguments.v.strides[3] = 2; },
     QM_ERROR_TENSOR_STRIDE, "'v' has stride 2 in its last dimension"},
    {"BroadcastOutput", cpu,
     [](Arguments &arguments, auto &) { arguments.o.strides[0] = 0; },
     QM_ERROR_TENSOR_STRIDE, "output 'o' has stride 0 in dimension 0"},
    {"BroadcastLse", cpu,
     [](Arguments &arguments, auto &) { arguments.lse.strides[2] = 0; },
     QM_ERROR_TENSOR_STRIDE, "output 'lse' has stride 0 in dimension 2"},
    {"GpuRowStride", gpu,
     [](Arguments &arguments, auto &) { arguments.q.strides[2] = 9; },
     QM_ERROR_TENSOR_STRIDE, "multiples of 4 elements (16 bytes)"},
    {"GpuAlignment", gpu,
     [](Arguments &arguments, auto &) { arguments.o.dl.byte_offset = 4; },
     QM_ERROR_TENSOR_ALIGNMENT, "needs a multiple of 16 bytes"},
    {"ElementAlignment", cpu,
     [](Arguments &arguments, auto &) { arguments.lse.dl.byte_offset = 2; },
     QM_ERROR_TENSOR_ALIGNMENT, "needs a multiple of 4 bytes"},
    {"NullData", cpu,
     [](Arguments &arguments, auto &) { arguments.k.dl.data = nullptr; },
     QM_ERROR_TENSOR_NULL, "'k' has no data"},
};

class BadCallTest : public testing::TestWithParam<BadCall> {};

TEST_P(BadCallTest, IsRefusedAndWritesNothing) {
  const BadCall &bad = GetParam();
  qm_library *library = probe::cpuLibrary();
  Arguments arguments(bad.device);
  std::vector<qm_value> values = arguments.values();
  bad.damage(arguments, values);
  const qm_kernel *kernel = probe::kernelOf(library);
  EXPECT_EQ(qm_kernel_check(kernel, values.data(), values.size()), bad.status);
  EXPECT_EQ(qm_launch(kernel, values.data(), values.size(), nullptr),
            bad.status);
  EXPECT_NE(strstr(qm_last_error(), bad.message), nullptr) << qm_last_error();
  EXPECT_NE(strstr(qm_last_error(), "\nhelp: "), nullptr) << qm_last_error();
  EXPECT_TRUE(arguments.outputsAreUntouched());
  qm_library_destroy(library);
}

INSTANTIATE_TEST_SUITE_P(All, BadCallTest, testing::ValuesIn(badCalls),
                         [](const auto &info) { return info.param.name; });

TEST_F(PackArguments, UnevenHeadGroupsAreRefused) {
  // Head counts open, so that the call can get them wrong.
  std::string entry = probe::entry("cpu", "probe.so");
  for (const char *fixed : {"[-1, 4, -1", "[-1, 2, -1"})
    for (size_t at; (at = entry.find(fixed)) != std::string::npos;)
      entry.replace(at, strlen(fixed), "[-1, -1, -1");
  std::vector<ManifestEntry> entries;
  ASSERT_EQ(parseManifest(probe::manifest({entry}), "test", entries), QM_OK);
  Arguments arguments;
  arguments.q.shape[1] = arguments.o.shape[1] = arguments.lse.shape[1] = 3;
  std::vector<qm_value> values = arguments.values();
  EXPECT_EQ(
      packArguments(entries[0].signature, values.data(), values.size(), call),
      QM_ERROR_HEAD_GROUPS);
  EXPECT_NE(strstr(lastError(), "'q' has 3 heads and 'k' has 2"), nullptr);
  arguments.k.shape[1] = arguments.v.shape[1] = 0;
  EXPECT_EQ(
      packArguments(entries[0].signature, values.data(), values.size(), call),
      QM_ERROR_HEAD_GROUPS);
}

TEST_F(PackArguments, UnknownDeviceNumbersAreRefused) {
  Arguments arguments;
  int nonsense = 1 << 20; // no enumerator
  memcpy(&arguments.q.dl.device.device_type, &nonsense, sizeof nonsense);
  EXPECT_EQ(pack(arguments), QM_ERROR_TENSOR_DEVICE);
}

} // namespace
