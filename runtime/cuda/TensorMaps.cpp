//===- TensorMaps.cpp - an argument as the GPU's tensor copies see it -----===//

#include "runtime/cuda/TensorMaps.h"
#include "runtime/Error.h"

#include <algorithm>

using namespace qm::runtime;
using namespace qm::runtime::cuda;

namespace {

constexpr int maxRank = 5;

/// Byte strides of a tensor map are below this and multiples of 16.
constexpr int64_t strideLimit = 1LL << 40;
constexpr int64_t strideMultiple = 16;

/// CUtensorMapDataType, or -1.
int mapType(DataType type) {
  switch (type) {
  case DataType::F16:
    return tensorMapFloat16;
  case DataType::BF16:
    return tensorMapBfloat16;
  case DataType::F32:
    return tensorMapFloat32;
  case DataType::F64:
    return tensorMapFloat64;
  default:
    return -1;
  }
}

/// CUtensorMapSwizzle: none, 32, 64 or 128 bytes.
int mapSwizzle(int64_t bytes) {
  return bytes == 0 ? 0 : bytes == 32 ? 1 : bytes == 64 ? 2 : 3;
}

} // namespace

int qm::runtime::cuda::encodeTensorMap(const Driver &driver,
                                       const Signature &signature,
                                       const TensorMap &map,
                                       const PackedCall &call,
                                       TensorMapBytes &out) {
  if (!driver.tensorMapEncodeTiled)
    return fail(QM_ERROR_DRIVER_SYMBOL,
                "the CUDA driver has no function cuTensorMapEncodeTiled\nhelp: "
                "update the NVIDIA driver (CUDA 12 or later)");
  const Argument &argument = signature.arguments[map.argument];
  int rank = argument.rank();
  const int64_t *extents = call.slots + map.slot + 1;
  const int64_t *strides = extents + rank;
  int64_t bytes = bytesPerElement(argument.dtype);
  int64_t address = call.slots[map.slot];

  uint64_t mapExtents[maxRank], mapStrides[maxRank];
  uint32_t steps[maxRank];
  for (int i = 0; i < rank; ++i) {
    int dimension = rank - 1 - i;
    // A map has no empty dimension. The kernel never copies from an empty
    // tensor, so any address does; q's is one (there is no launch without).
    if (extents[dimension] == 0)
      address = call.slots[0];
    mapExtents[i] =
        static_cast<uint64_t>(std::max<int64_t>(extents[dimension], 1));
    steps[i] = 1;
    // The stride of a single element has no effect, but must be valid.
    int64_t stride =
        extents[dimension] > 1 ? strides[dimension] * bytes : strideMultiple;
    if (i > 0 &&
        (stride < 0 || stride >= strideLimit || stride % strideMultiple != 0))
      return fail(QM_ERROR_TENSOR_STRIDE,
                  "tensor '%s' has a stride of %lld bytes in dimension %d; "
                  "this kernel's strides are from 0 to 2^40 bytes, multiples "
                  "of %lld\nhelp: copy it to a compact tensor",
                  argument.name.c_str(), static_cast<long long>(stride),
                  dimension, static_cast<long long>(strideMultiple));
    if (i > 0)
      mapStrides[i - 1] = static_cast<uint64_t>(stride);
  }
  Result result = driver.tensorMapEncodeTiled(
      &out, mapType(argument.dtype), static_cast<unsigned>(rank),
      reinterpret_cast<void *>(address), mapExtents, mapStrides, map.box.data(),
      steps, tensorMapNoInterleave, mapSwizzle(map.swizzleBytes),
      tensorMapPromoteL2To256Bytes, tensorMapFillZeros);
  if (result != success)
    return failCall(driver, result, "cannot encode a tensor map");
  return QM_OK;
}
