//===- AbiSupport.cpp - what the functions of qm.h share ------------------===//

#include "runtime/AbiSupport.h"

using namespace qm::runtime;

int qm::runtime::failNull(const char *function, const char *parameter) {
  return fail(QM_ERROR_NULL_ARGUMENT,
              "%s: %s is null\nhelp: pass a valid pointer", function,
              parameter);
}

int qm::runtime::failIndex(const char *function, size_t index, size_t count) {
  return fail(QM_ERROR_INDEX_RANGE,
              "%s: index %zu is past the last of %zu\nhelp: ask for the count "
              "first",
              function, index, count);
}

int qm::runtime::failHandle(const char *function, const char *kind) {
  return fail(QM_ERROR_INVALID_HANDLE,
              "%s: %s is not a live handle: it was freed, or is of another "
              "kind\nhelp: operators and kernels live until their library is "
              "destroyed",
              function, kind);
}

int qm::runtime::checkDeviceType(const char *function, DLDevice device) {
  if (device.device_type == kDLCPU || device.device_type == kDLCUDA)
    return QM_OK;
  return fail(QM_ERROR_TENSOR_DEVICE,
              "%s: DLPack device type %d is neither CPU (%d) nor CUDA (%d)\n"
              "help: kernels run on these",
              function, static_cast<int>(device.device_type), kDLCPU, kDLCUDA);
}
