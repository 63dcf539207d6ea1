//===- TensorMapCache.h - the maps of the last calls ------------*- C++ -*-===//
//
// Encoding a map costs the driver a part of a microsecond, and a service calls
// with the same buffers again and again. An image keeps the maps of its last
// few calls by what they were made from: the slots. One thread at a time uses
// the cache; another that finds it taken encodes for itself and waits for
// nothing.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "runtime/Manifest.h"
#include "runtime/cuda/Driver.h"

#include <atomic>

namespace qm::runtime::cuda {

class TensorMapCache {
public:
  /// Copies the maps of an earlier call with these slots; false if there are
  /// none, or another thread is here.
  bool get(const int64_t *slots, size_t slotCount, TensorMapBytes *maps,
           size_t mapCount);
  /// Keeps the maps of a call, in the place of the oldest.
  void put(const int64_t *slots, size_t slotCount, const TensorMapBytes *maps,
           size_t mapCount);

private:
  /// Calls with more slots are not kept: comparing would cost what it saves.
  static constexpr size_t maxKept = 64, calls = 4;

  struct Call {
    size_t slotCount = 0; ///< 0: none
    int64_t slots[maxKept];
    TensorMapBytes maps[maxTensorMaps];
  };

  std::atomic_flag taken;
  Call kept[calls];
  size_t oldest = 0;
};

} // namespace qm::runtime::cuda
