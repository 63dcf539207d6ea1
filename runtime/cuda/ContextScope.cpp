//===- ContextScope.cpp - the right context for a launch ------------------===//

#include "runtime/cuda/ContextScope.h"
#include "runtime/Error.h"

#include <atomic>

using namespace qm::runtime;
using namespace qm::runtime::cuda;

namespace {

/// The null stream and its two named forms (legacy, per thread) belong to
/// whatever context is current.
bool hasContext(Stream stream) {
  return reinterpret_cast<uintptr_t>(stream) > 2;
}

/// Retained once a device and kept, as the CUDA runtime does.
int primaryContext(const Driver &driver, const DeviceInfo &device,
                   Context &context) {
  static std::atomic<Context> retained[maxDevices];
  std::atomic<Context> &slot = retained[&device - driver.devices.data()];
  context = slot.load(std::memory_order_acquire);
  if (context)
    return QM_OK;
  Result result = driver.primaryCtxRetain(&context, device.handle);
  if (result != success)
    return failCall(driver, result, "cannot use the device's primary context");
  slot.store(context, std::memory_order_release);
  return QM_OK;
}

} // namespace

ContextScope::~ContextScope() {
  Context popped;
  if (pushed)
    driver.ctxPopCurrent(&popped);
}

int ContextScope::push(Context context) {
  if (Result result = driver.ctxPushCurrent(context))
    return failCall(driver, result, "cannot make a context current");
  pushed = true;
  active = context;
  return QM_OK;
}

int ContextScope::enter(const DeviceInfo &device, Stream stream) {
  Context current = nullptr;
  Device currentDevice = 0;
  Result result = driver.ctxGetCurrent(&current);
  if (result == success && current)
    result = driver.ctxGetDevice(&currentDevice);
  if (result != success)
    return failCall(driver, result, "cannot read the current context");
  bool usable = current && currentDevice == device.handle;
  if (usable)
    active = current;

  if (!hasContext(stream)) {
    if (usable)
      return QM_OK;
    Context primary = nullptr;
    int status = primaryContext(driver, device, primary);
    return status == QM_OK ? push(primary) : status;
  }

  Context owner = nullptr;
  if (Result bad = driver.streamGetCtx(stream, &owner))
    return fail(QM_ERROR_STREAM_CONTEXT,
                "the stream %p is not valid (CUDA error %d)\nhelp: pass a "
                "CUstream or cudaStream_t that exists, or NULL",
                static_cast<void *>(stream), bad);
  if (usable && owner != current)
    return fail(QM_ERROR_STREAM_CONTEXT,
                "the stream %p belongs to another context (%p) than the "
                "current one (%p)\nhelp: make the stream's context current, or "
                "use a stream of this one",
                static_cast<void *>(stream), static_cast<void *>(owner),
                static_cast<void *>(current));
  if (usable)
    return QM_OK;
  if (int status = push(owner))
    return status;
  Device streamDevice = 0;
  result = driver.ctxGetDevice(&streamDevice);
  if (result != success)
    return failCall(driver, result, "cannot read the stream's device");
  if (streamDevice != device.handle)
    return fail(QM_ERROR_STREAM_CONTEXT,
                "the stream %p is on device %d, the tensors are on device %d\n"
                "help: use a stream of the tensors' device",
                static_cast<void *>(stream), streamDevice, device.handle);
  return QM_OK;
}
