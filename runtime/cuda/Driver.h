//===- Driver.h - the CUDA driver, found at run time ------------*- C++ -*-===//
//
// One table of function pointers a process, filled by dlopen the first time it
// is needed. QM_CUDA_DRIVER names the library; else libcuda.so.1, then
// libcuda.so. A failure is not remembered: the next call tries again.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "runtime/cuda/DriverTypes.h"

#include <span>

namespace qm::runtime::cuda {

/// Devices after these are not used.
constexpr int maxDevices = 64;

/// What the runtime must know of a GPU.
struct DeviceInfo {
  Device handle;
  int major, minor;   ///< compute capability
  int maxSharedBytes; ///< that a CTA may opt in to
  int multiprocessors;
};

struct Driver {
#define QM_CUDA_SYMBOL(member, symbol, parameters) Result(*member) parameters;
#include "runtime/cuda/DriverSymbols.def"

  /// By ordinal, as cudaSetDevice and DLPack count them.
  std::span<const DeviceInfo> devices;
};

/// Gives the initialised driver, or a status that says why there is none.
int getDriver(const Driver *&driver);

/// As getDriver, and the device of this ordinal.
int getDevice(int ordinal, const Driver *&driver, const DeviceInfo *&device);

/// Fails with "<what>: CUDA_ERROR_X (<driver's own words>)".
int failCall(const Driver &driver, Result result, const char *what);

} // namespace qm::runtime::cuda
