//===- LoadedImage.h - an image in the contexts that use it -----*- C++ -*-===//
#pragma once

#include "runtime/cuda/Driver.h"
#include "runtime/cuda/TensorMapCache.h"
#include "runtime/cuda/TileCounters.h"

#include <atomic>
#include <mutex>

namespace qm::runtime {
struct Variant;
} // namespace qm::runtime

namespace qm::runtime::cuda {

/// A variant's image in one context.
struct LoadedImage {
  Context context;
  unsigned long long contextId; ///< 0 where the driver has no ids
  Module module;
  Function function;
  mutable TileCounters tileCounters;
  mutable TensorMapCache tensorMaps;
  LoadedImage *next;
};

/// The list of them: read without a lock, extended under one, never shortened
/// before its library is destroyed.
class LoadedImages {
public:
  LoadedImages() = default;
  LoadedImages(const LoadedImages &) = delete;
  LoadedImages &operator=(const LoadedImages &) = delete;

  /// Unloads everything.
  ~LoadedImages();

  /// The variant's image in `context`, which is current and on `device`; loads
  /// it if it is not there yet.
  int get(const Driver &driver, const DeviceInfo &device, Context context,
          const Variant &variant, const LoadedImage *&image);

private:
  const LoadedImage *find(Context context, unsigned long long id) const;

  std::atomic<LoadedImage *> head{nullptr};
  std::mutex mutex;
};

} // namespace qm::runtime::cuda
