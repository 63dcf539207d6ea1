//===- Driver.cpp - the CUDA driver, found at run time --------------------===//

#include "runtime/cuda/Driver.h"
#include "runtime/Error.h"

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <dlfcn.h>
#include <mutex>
#include <vector>

using namespace qm::runtime;
using namespace qm::runtime::cuda;

namespace {

const char *const defaultNames[] = {"libcuda.so.1", "libcuda.so"};

void *openDriver() {
  // Not from the environment of a set-uid program.
  if (const char *named = secure_getenv("QM_CUDA_DRIVER"))
    return dlopen(named, RTLD_NOW | RTLD_LOCAL);
  for (const char *name : defaultNames)
    if (void *handle = dlopen(name, RTLD_NOW | RTLD_LOCAL))
      return handle;
  return nullptr;
}

int fillTable(void *handle, Driver &driver) {
#define QM_CUDA_OPTIONAL_SYMBOL(member, symbol, parameters)                    \
  driver.member =                                                              \
      reinterpret_cast<Result(*) parameters>(dlsym(handle, #symbol));
#define QM_CUDA_SYMBOL(member, symbol, parameters)                             \
  QM_CUDA_OPTIONAL_SYMBOL(member, symbol, parameters)                          \
  if (!driver.member)                                                          \
    return fail(QM_ERROR_DRIVER_SYMBOL,                                        \
                "the CUDA driver has no function %s\nhelp: update the NVIDIA " \
                "driver (CUDA 11 or later)",                                   \
                #symbol);
#include "runtime/cuda/DriverSymbols.def"
  return QM_OK;
}

int listDevices(const Driver &driver, std::vector<DeviceInfo> &devices) {
  int count = 0;
  if (Result result = driver.deviceGetCount(&count))
    return failCall(driver, result, "cannot count the GPUs");
  count = std::min(count, maxDevices);
  devices.resize(count);
  for (int i = 0; i < count; ++i) {
    DeviceInfo &info = devices[i];
    Result result = driver.deviceGet(&info.handle, i);
    auto read = [&](int attribute, int &value) {
      if (result == success)
        result = driver.deviceGetAttribute(&value, attribute, info.handle);
    };
    read(computeCapabilityMajor, info.major);
    read(computeCapabilityMinor, info.minor);
    read(maxSharedMemoryPerBlockOptin, info.maxSharedBytes);
    read(multiprocessorCount, info.multiprocessors);
    if (result != success)
      return failCall(driver, result, "cannot read the properties of a GPU");
  }
  return QM_OK;
}

int load(Driver &driver, std::vector<DeviceInfo> &devices) {
  void *handle = openDriver();
  if (!handle) {
    const char *reason = dlerror();
    return fail(QM_ERROR_NO_DRIVER,
                "no CUDA driver can be loaded (%s)\nhelp: install the NVIDIA "
                "driver, or pass CPU tensors",
                reason ? reason : "unknown reason");
  }
  int status = fillTable(handle, driver);
  if (status == QM_OK)
    if (Result result = driver.init(0))
      status = failCall(driver, result, "the CUDA driver does not start");
  if (status == QM_OK)
    status = listDevices(driver, devices);
  if (status == QM_OK)
    driver.devices = devices;
  else
    dlclose(handle);
  return status;
}

} // namespace

int qm::runtime::cuda::getDriver(const Driver *&driver) {
  static std::atomic<const Driver *> loaded{nullptr};
  driver = loaded.load(std::memory_order_acquire);
  if (driver)
    return QM_OK;

  static std::mutex mutex;
  static Driver table;
  static std::vector<DeviceInfo> devices;
  std::lock_guard<std::mutex> lock(mutex);
  if (!loaded.load(std::memory_order_relaxed)) {
    if (int status = load(table, devices))
      return status;
    loaded.store(&table, std::memory_order_release);
  }
  driver = &table;
  return QM_OK;
}

int qm::runtime::cuda::getDevice(int ordinal, const Driver *&driver,
                                 const DeviceInfo *&device) {
  if (int status = getDriver(driver))
    return status;
  if (ordinal < 0 || static_cast<size_t>(ordinal) >= driver->devices.size())
    return fail(QM_ERROR_NO_SUCH_DEVICE,
                "there is no CUDA device %d; this process sees %zu\nhelp: use "
                "a device from 0; CUDA_VISIBLE_DEVICES hides devices",
                ordinal, driver->devices.size());
  device = &driver->devices[ordinal];
  return QM_OK;
}

int qm::runtime::cuda::failCall(const Driver &driver, Result result,
                                const char *what) {
  const char *name = nullptr, *words = nullptr;
  driver.getErrorName(result, &name);
  driver.getErrorString(result, &words);
  if (result >= errorCaptureFirst && result <= errorCaptureLast)
    return fail(QM_ERROR_STREAM_CAPTURE,
                "%s: CUDA error %d, %s (%s)\nhelp: during capture launch on "
                "the captured stream only, not on the default one; call "
                "qm_operator_prepare before the capture",
                what, result, name ? name : "unknown", words ? words : "");
  return fail(QM_ERROR_DRIVER_CALL,
              "%s: CUDA error %d, %s (%s)\nhelp: an earlier asynchronous "
              "failure can surface here; compute-sanitizer finds its source",
              what, result, name ? name : "unknown", words ? words : "");
}
