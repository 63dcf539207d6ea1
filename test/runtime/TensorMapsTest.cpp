//===- TensorMapsTest.cpp - kernels that copy by tensor maps --------------===//

#include "test/runtime/CudaFixture.h"

#include <algorithm>

using probe::Arguments;

namespace {

using TensorMaps = CudaFixture;

const char *const withMaps = R"("ctas_per_sm": 2, "tensor_maps": [
  {"argument": "q", "box": [64, 128, 1, 1], "swizzle_bytes": 128},
  {"argument": "k", "box": [8, 16, 1, 1], "swizzle_bytes": 0}])";

FakeTensorMap readMap(const FakeLaunch &launch, int index) {
  FakeTensorMap map;
  memcpy(&map, launch.maps[index], sizeof map);
  return map;
}

TEST_F(TensorMaps, TensorMapsFollowTheSlots) {
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

TEST_F(TensorMaps, MapsOfACallThatComesAgainAreKept) {
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

TEST_F(TensorMaps, AGridOfSeveralTilesACtaIsNoLargerThanTheGpu) {
  fake().tensorMaps = 2;
  const qm_kernel *kernel = load({"sm_80:ptx"}, withMaps);
  EXPECT_EQ(launch(kernel, Arguments(gpu0)), QM_OK); // 16 tiles
  EXPECT_EQ(fake().last.grid, 6u);                   // 2 on each of 3
  EXPECT_EQ(launch(kernel, Arguments(gpu0, 1, 3, 5)), QM_OK);
  EXPECT_EQ(fake().last.grid, 4u); // no more than there are tiles
}

TEST_F(TensorMaps, EmptyAndSingleDimensionsMakeValidMaps) {
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

TEST_F(TensorMaps, StridesThatAMapCannotHaveAreRefused) {
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

TEST_F(TensorMaps, AMapTheDriverRefusesIsReported) {
  fake().tensorMaps = 2;
  fake().failingFunction = "cuTensorMapEncodeTiled";
  fake().failure = 1;
  expectFailure(load({"sm_80:ptx"}, withMaps), QM_ERROR_DRIVER_CALL,
                "cannot encode a tensor map: CUDA error 1");
}

TEST_F(TensorMaps, ParametersOfImageAndManifestMustAgree) {
  fake().tensorMaps = 1;
  expectFailure(load({"sm_80:ptx"}, withMaps), QM_ERROR_IMAGE_REJECTED,
                "parameter 2 of entry 'probe_entry'");
  expectFailure(load({"sm_80:ptx"}), QM_ERROR_IMAGE_REJECTED,
                "has more than the 1 parameters of the manifest");
}

} // namespace
