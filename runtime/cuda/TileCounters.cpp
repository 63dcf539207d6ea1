//===- TileCounters.cpp - a counter of the image for each stream ----------===//

#include "runtime/cuda/TileCounters.h"

using namespace qm::runtime::cuda;

int32_t TileCounters::get(const Driver &driver, Stream stream, int64_t count) {
  constexpr int32_t none = -1;
  unsigned long long id = 0;
  int capturing = 0;
  // Some streams cannot be asked while another is being captured: that counts
  // as yes.
  if (!driver.streamGetId || !driver.streamIsCapturing ||
      driver.streamIsCapturing(stream, &capturing) != success || capturing ||
      driver.streamGetId(stream, &id) != success)
    return none;
  const unsigned long long owner = id + 1;
  for (int64_t i = 0; i < count; ++i) {
    std::atomic<unsigned long long> &place = owners[(id + i) % count];
    unsigned long long found = place.load(std::memory_order_relaxed);
    if (found == 0 &&
        place.compare_exchange_strong(found, owner, std::memory_order_relaxed))
      found = owner;
    if (found == owner)
      return static_cast<int32_t>((id + i) % count);
  }
  return none;
}
