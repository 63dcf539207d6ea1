//===- TensorMapCache.cpp - the maps of the last calls --------------------===//

#include "runtime/cuda/TensorMapCache.h"

#include <cstring>

using namespace qm::runtime::cuda;

bool TensorMapCache::get(const int64_t *slots, size_t slotCount,
                         TensorMapBytes *maps, size_t mapCount) {
  if (slotCount > maxKept || taken.test_and_set(std::memory_order_acquire))
    return false;
  bool found = false;
  for (const Call &call : kept)
    if (call.slotCount == slotCount &&
        memcmp(call.slots, slots, slotCount * sizeof *slots) == 0) {
      memcpy(maps, call.maps, mapCount * sizeof *maps);
      found = true;
      break;
    }
  taken.clear(std::memory_order_release);
  return found;
}

void TensorMapCache::put(const int64_t *slots, size_t slotCount,
                         const TensorMapBytes *maps, size_t mapCount) {
  if (slotCount > maxKept || taken.test_and_set(std::memory_order_acquire))
    return;
  Call &call = kept[oldest];
  oldest = (oldest + 1) % calls;
  call.slotCount = slotCount;
  memcpy(call.slots, slots, slotCount * sizeof *slots);
  memcpy(call.maps, maps, mapCount * sizeof *maps);
  taken.clear(std::memory_order_release);
}
