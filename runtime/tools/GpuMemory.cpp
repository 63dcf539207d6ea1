//===- GpuMemory.cpp - where GPU cases run --------------------------------===//

#include "runtime/Error.h"
#include "runtime/cuda/ContextScope.h"
#include "runtime/tools/CaseMemory.h"

#include <vector>

using namespace qm::runtime;
using namespace qm::runtime::cuda;

namespace {

DevicePtr toDevice(const void *address) {
  return reinterpret_cast<DevicePtr>(address);
}

/// A stream and two events in the device's primary context, which is current
/// while this lives.
class GpuMemory : public CaseMemory {
public:
  GpuMemory(const Driver &driver, int ordinal)
      : driver(driver), ordinal(ordinal), scope(driver) {}

  ~GpuMemory() override {
    freeAll();
    if (start)
      driver.eventDestroy(start);
    if (stop)
      driver.eventDestroy(stop);
    if (queue)
      driver.streamDestroy(queue);
  }

  int initialise(const DeviceInfo &device) {
    if (int status = scope.enter(device, nullptr))
      return status;
    Result result = driver.streamCreate(&queue, 0);
    if (result == success)
      result = driver.eventCreate(&start, 0);
    if (result == success)
      result = driver.eventCreate(&stop, 0);
    return check(result, "cannot create a stream and events");
  }

  DLDevice device() const override { return {kDLCUDA, ordinal}; }
  void *stream() const override { return queue; }

  int allocate(size_t bytes, void *&address) override {
    DevicePtr block = 0;
    Result result = driver.memAlloc(&block, bytes ? bytes : 1);
    if (result == success)
      blocks.push_back(block);
    address = reinterpret_cast<void *>(block);
    return check(result, "cannot allocate device memory");
  }

  void freeAll() override {
    for (DevicePtr block : blocks)
      driver.memFree(block);
    blocks.clear();
  }

  int upload(void *to, const void *from, size_t bytes) override {
    return check(bytes ? driver.memcpyToDevice(toDevice(to), from, bytes)
                       : success,
                 "cannot copy to the device");
  }
  int download(void *to, const void *from, size_t bytes) override {
    return check(bytes ? driver.memcpyToHost(to, toDevice(from), bytes)
                       : success,
                 "cannot copy from the device");
  }
  int synchronize() override {
    return check(driver.streamSynchronize(queue), "the kernel failed");
  }

  int time(const std::function<int()> &launch, double &milliseconds) override {
    if (int status = check(driver.eventRecord(start, queue), "cannot time"))
      return status;
    if (int status = launch())
      return status;
    float elapsed = 0;
    Result result = driver.eventRecord(stop, queue);
    if (result == success)
      result = driver.eventSynchronize(stop);
    if (result == success)
      result = driver.eventElapsedTime(&elapsed, start, stop);
    milliseconds = elapsed;
    return check(result, "cannot time");
  }

private:
  int check(Result result, const char *what) const {
    return result == success ? QM_OK : failCall(driver, result, what);
  }

  const Driver &driver;
  int ordinal;
  ContextScope scope;
  Stream queue = nullptr;
  Event start = nullptr, stop = nullptr;
  std::vector<DevicePtr> blocks;
};

} // namespace

int qm::runtime::makeGpuMemory(int ordinal,
                               std::unique_ptr<CaseMemory> &memory) {
  const Driver *driver = nullptr;
  const DeviceInfo *device = nullptr;
  if (int status = getDevice(ordinal, driver, device))
    return status;
  auto made = std::make_unique<GpuMemory>(*driver, ordinal);
  if (int status = made->initialise(*device))
    return status;
  memory = std::move(made);
  return QM_OK;
}
