//===- CheckTensor.cpp - one tensor against its argument ------------------===//

#include "runtime/CheckTensor.h"
#include "runtime/Error.h"

#include <cstring>

using namespace qm::runtime;

namespace {

/// Bytes that q, k, v and o, and each of their rows, are aligned to on a GPU:
/// the width of one cp.async or vector load.
constexpr int64_t gpuAlignment = 16;

long long ll(int64_t value) { return value; }

/// A caller's device type may be no enumerator at all: read it as the int it
/// is.
int typeOf(const DLDevice &device) {
  int type;
  static_assert(sizeof type == sizeof device.device_type);
  memcpy(&type, &device.device_type, sizeof type);
  return type;
}

const char *deviceName(int type) {
  switch (type) {
  case kDLCPU:
    return "CPU";
  case kDLCUDA:
    return "CUDA";
  case kDLCUDAHost:
    return "pinned host";
  case kDLCUDAManaged:
    return "CUDA managed";
  default:
    return "unknown";
  }
}

/// Pinned memory is host memory; managed memory can be used from every GPU.
bool isHost(int type) { return type == kDLCPU || type == kDLCUDAHost; }
bool isGpu(int type) { return type == kDLCUDA || type == kDLCUDAManaged; }

} // namespace

int qm::runtime::chooseDevice(const Signature &signature,
                              const qm_value *values, DLDevice &device) {
  DLDevice chosen = values[signature.q].as.tensor->device;
  int type = typeOf(chosen);
  if (!isHost(type) && !isGpu(type))
    return fail(QM_ERROR_TENSOR_DEVICE,
                "tensor '%s' is on DLPack device type %d; kernels run on the "
                "CPU (%d) and on CUDA GPUs (%d)\nhelp: copy it to one of these",
                signature.arguments[signature.q].name.c_str(), type, kDLCPU,
                kDLCUDA);
  for (size_t i = 0; type == kDLCUDAManaged && i < signature.arguments.size();
       ++i)
    if (values[i].kind == QM_TENSOR &&
        typeOf(values[i].as.tensor->device) == kDLCUDA) {
      chosen = values[i].as.tensor->device;
      break;
    }
  device.device_type = isHost(type) ? kDLCPU : kDLCUDA;
  device.device_id = isHost(type) ? 0 : chosen.device_id;
  return QM_OK;
}

namespace {

int checkDevice(const View &view, DLDevice device) {
  int type = typeOf(view.tensor->device), id = view.tensor->device.device_id;
  bool fits = device.device_type == kDLCPU
                  ? isHost(type)
                  : type == kDLCUDAManaged ||
                        (type == kDLCUDA && id == device.device_id);
  if (fits)
    return QM_OK;
  return fail(QM_ERROR_TENSOR_DEVICE,
              "tensor '%s' is on %s device %d, the call runs on %s device %d\n"
              "help: all tensors of a call must be on one device",
              view.name(), deviceName(type), id, deviceName(device.device_type),
              device.device_id);
}

int checkType(const View &view) {
  DLDataType actual = view.tensor->dtype;
  if (!matches(actual, view.argument->dtype)) {
    const char *known = dataTypeName(actual);
    return fail(QM_ERROR_TENSOR_DTYPE,
                "tensor '%s' holds %s (DLPack code %d, bits %d, lanes %d), the "
                "kernel needs %s\nhelp: convert it, or build the kernel for "
                "this dtype",
                view.name(), known ? known : "elements of another type",
                actual.code, actual.bits, actual.lanes,
                dataTypeName(view.argument->dtype));
  }
  if (view.tensor->ndim != view.rank() && !view.isFlat())
    return fail(QM_ERROR_TENSOR_RANK,
                "tensor '%s' has rank %d, the kernel needs rank %d\nhelp: q, "
                "k, v and o are [batch, heads, sequence, head dim]%s",
                view.name(), view.tensor->ndim, view.rank(),
                view.packed ? ", or, packed, [tokens, heads, head dim]" : "");
  if (view.rank() > 0 && !view.tensor->shape)
    return fail(QM_ERROR_TENSOR_NULL,
                "tensor '%s' has rank %d and a null shape\nhelp: point "
                "DLTensor::shape at its extents",
                view.name(), view.rank());
  return QM_OK;
}

/// Extents fit the kernel's 32-bit indices and its static shape; byte offsets
/// fit 64 bits. Fills the view's extents and strides.
int readLayout(const View &view) {
  const DLTensor &tensor = *view.tensor;
  int64_t bytes = bytesPerElement(view.argument->dtype);
  bool overflow = false;
  int64_t compact[maxRank] = {}, product = 1; // strides of a tensor without
  for (int i = tensor.ndim - 1; i >= 0; --i) {
    compact[i] = product;
    overflow |= __builtin_mul_overflow(product, tensor.shape[i], &product);
  }
  for (int i = view.rank() - 1; i >= 0; --i) {
    int from = view.dimensionOf(i);
    int64_t extent = from < 0 ? 1 : tensor.shape[from];
    if (extent < 0 || extent > INT32_MAX)
      return fail(QM_ERROR_TENSOR_SIZE,
                  "tensor '%s' has extent %lld in dimension %d; extents are "
                  "from 0 to %d\nhelp: split the call",
                  view.name(), ll(extent), i, INT32_MAX);
    int64_t expected = view.argument->shape[i];
    if (expected >= 0 && extent != expected)
      return fail(QM_ERROR_TENSOR_SHAPE,
                  "tensor '%s' has extent %lld in dimension %d, the kernel was "
                  "built for %lld\nhelp: pass a tensor of that shape, or build "
                  "the kernel for this one",
                  view.name(), ll(extent), i, ll(expected));
    view.extents[i] = extent;
    view.strides[i] = from < 0         ? product
                      : tensor.strides ? tensor.strides[from]
                                       : compact[from];
  }
  int64_t below = 0, above = 0; // bytes the elements reach from element 0
  for (int i = 0; i < view.rank(); ++i) {
    int64_t reach = 0;
    if (view.extents[i] < 2)
      continue;
    overflow |=
        __builtin_mul_overflow(view.strides[i], view.extents[i] - 1, &reach) ||
        __builtin_mul_overflow(reach, bytes, &reach);
    int64_t &side = reach < 0 ? below : above;
    overflow |= __builtin_add_overflow(side, reach, &side);
  }
  if (overflow)
    return fail(QM_ERROR_TENSOR_SIZE,
                "the extents and strides of tensor '%s' reach past 2^63 "
                "bytes\nhelp: check its shape and strides",
                view.name());
  return QM_OK;
}

int checkStrides(const View &view, DLDevice device) {
  int last = view.rank() - 1;
  bool wide = view.argument->isWide();
  if (wide) {
    // The stride of an extent of 1 has no effect; kernels assume 1.
    if (view.extents[last] == 1)
      view.strides[last] = 1;
    if (view.strides[last] != 1 && !view.empty())
      return fail(QM_ERROR_TENSOR_STRIDE,
                  "tensor '%s' has stride %lld in its last dimension, the "
                  "kernel needs 1\nhelp: make the head dim contiguous",
                  view.name(), ll(view.strides[last]));
  }
  if (view.empty())
    return QM_OK;
  int64_t bytes = bytesPerElement(view.argument->dtype);
  for (int i = 0; i <= last; ++i) {
    if (view.extents[i] < 2)
      continue;
    if (view.argument->isOutput() && view.strides[i] == 0)
      return fail(QM_ERROR_TENSOR_STRIDE,
                  "output '%s' has stride 0 in dimension %d of extent %lld: "
                  "its elements would overwrite each other\nhelp: pass a "
                  "tensor with an element for each result",
                  view.name(), i, ll(view.extents[i]));
    if (device.device_type == kDLCUDA && wide && i < last &&
        view.strides[i] * bytes % gpuAlignment != 0)
      return fail(QM_ERROR_TENSOR_STRIDE,
                  "tensor '%s' has stride %lld in dimension %d; on a GPU the "
                  "strides of q, k, v and o are multiples of %lld elements "
                  "(%lld bytes)\nhelp: pad its rows, or copy it",
                  view.name(), ll(view.strides[i]), i, ll(gpuAlignment / bytes),
                  ll(gpuAlignment));
  }
  return QM_OK;
}

int checkPointer(const View &view, DLDevice device, int64_t &address) {
  const DLTensor &tensor = *view.tensor;
  address = 0;
  if (!tensor.data) {
    if (view.empty())
      return QM_OK;
    return fail(QM_ERROR_TENSOR_NULL,
                "tensor '%s' has no data\nhelp: set DLTensor::data",
                view.name());
  }
  uint64_t sum;
  if (__builtin_add_overflow(reinterpret_cast<uintptr_t>(tensor.data),
                             tensor.byte_offset, &sum))
    return fail(QM_ERROR_TENSOR_SIZE,
                "tensor '%s' has byte offset %llu, past the end of memory\n"
                "help: check DLTensor::byte_offset",
                view.name(),
                static_cast<unsigned long long>(tensor.byte_offset));
  bool wide = view.argument->isWide();
  uint64_t alignment = device.device_type == kDLCUDA && wide
                           ? gpuAlignment
                           : bytesPerElement(view.argument->dtype);
  if (sum % alignment != 0 && !view.empty())
    return fail(QM_ERROR_TENSOR_ALIGNMENT,
                "tensor '%s' starts at address 0x%llx, the kernel needs a "
                "multiple of %llu bytes\nhelp: start it at an aligned offset, "
                "or copy it",
                view.name(), static_cast<unsigned long long>(sum),
                static_cast<unsigned long long>(alignment));
  address = static_cast<int64_t>(sum);
  return QM_OK;
}

} // namespace

int qm::runtime::checkTensor(const View &view, DLDevice device,
                             int64_t &address) {
  int status = checkDevice(view, device);
  if (status == QM_OK)
    status = checkType(view);
  if (status == QM_OK)
    status = readLayout(view);
  if (status == QM_OK)
    status = checkStrides(view, device);
  if (status == QM_OK)
    status = checkPointer(view, device, address);
  return status;
}
