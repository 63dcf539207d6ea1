//===- AbiSupport.cpp - what the functions of qm.h share ------------------===//

#include "runtime/AbiSupport.h"

#include <exception>
#include <new>

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

int qm::runtime::failException() {
  try {
    throw;
  } catch (const std::bad_alloc &) {
    return fail(QM_ERROR_OUT_OF_MEMORY,
                "not enough host memory\nhelp: free some");
  } catch (const std::exception &error) {
    return fail(QM_ERROR_INTERNAL, "%s\nhelp: please report this",
                error.what());
  }
}

int qm::runtime::checkDeviceType(const char *function, DLDevice device) {
  if (device.device_type == kDLCPU || device.device_type == kDLCUDA)
    return QM_OK;
  return fail(QM_ERROR_TENSOR_DEVICE,
              "%s: DLPack device type %d is neither CPU (%d) nor CUDA (%d)\n"
              "help: kernels run on these",
              function, static_cast<int>(device.device_type), kDLCPU, kDLCUDA);
}
