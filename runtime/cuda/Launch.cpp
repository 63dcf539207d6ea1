//===- Launch.cpp - a packed call on a GPU --------------------------------===//

#include "runtime/cuda/Launch.h"
#include "runtime/Error.h"
#include "runtime/Library.h"
#include "runtime/cuda/ContextScope.h"
#include "runtime/cuda/Target.h"
#include "runtime/cuda/TensorMaps.h"

#include <algorithm>

using namespace qm::runtime;
using namespace qm::runtime::cuda;

int qm::runtime::cuda::launch(const Kernel &kernel, const PackedCall &call,
                              void *streamHandle) {
  const Driver *driver = nullptr;
  const DeviceInfo *device = nullptr;
  const Variant *variant = nullptr;
  if (int status = getDevice(call.device.device_id, driver, device))
    return status;
  if (int status = selectVariant(kernel, *device, variant))
    return status;
  int64_t tiles = call.tiles(variant->entry.tileM);
  if (tiles < 0)
    return failTooManyTiles(kernel.signature, call, variant->entry.tileM);

  auto stream = static_cast<Stream>(streamHandle);
  ContextScope scope(*driver);
  if (int status = scope.enter(*device, stream))
    return status;
  const LoadedImage *image = nullptr;
  if (int status = variant->loaded.get(*driver, *device, scope.context(),
                                       *variant, image))
    return status;

  // The first parameter is the array itself; the driver copies them all.
  void *parameters[2 + maxTensorMaps] = {const_cast<int64_t *>(call.slots)};
  TensorMapBytes maps[maxTensorMaps];
  const std::vector<TensorMap> &wanted = variant->entry.tensorMaps;
  size_t slots = static_cast<size_t>(kernel.signature.slots);
  if (!wanted.empty() &&
      !image->tensorMaps.get(call.slots, slots, maps, wanted.size())) {
    for (size_t i = 0; i < wanted.size(); ++i)
      if (int status = encodeTensorMap(*driver, kernel.signature, wanted[i],
                                       call, maps[i]))
        return status;
    image->tensorMaps.put(call.slots, slots, maps, wanted.size());
  }
  for (size_t i = 0; i < wanted.size(); ++i)
    parameters[1 + i] = &maps[i];
  int32_t counter = -1;
  if (variant->entry.tileCounters) {
    counter =
        image->tileCounters.get(*driver, stream, variant->entry.tileCounters);
    parameters[1 + wanted.size()] = &counter;
  }
  int64_t grid = tiles;
  if (variant->entry.ctasPerSm)
    grid = std::min(tiles, variant->entry.ctasPerSm * device->multiprocessors);
  Result result =
      driver->launchKernel(image->function, static_cast<unsigned>(grid), 1, 1,
                           static_cast<unsigned>(variant->entry.threads), 1, 1,
                           static_cast<unsigned>(variant->entry.sharedBytes),
                           stream, parameters, nullptr);
  if (result != success)
    return failCall(*driver, result, "the kernel cannot be launched");
  return QM_OK;
}

int qm::runtime::cuda::prepare(const Kernel &kernel, int ordinal) {
  const Driver *driver = nullptr;
  const DeviceInfo *device = nullptr;
  const Variant *variant = nullptr;
  if (int status = getDevice(ordinal, driver, device))
    return status;
  if (int status = selectVariant(kernel, *device, variant))
    return status;
  ContextScope scope(*driver);
  if (int status = scope.enter(*device, nullptr))
    return status;
  const LoadedImage *image = nullptr;
  return variant->loaded.get(*driver, *device, scope.context(), *variant,
                             image);
}
