//===- Handles.cpp - the opaque handles of qm.h ---------------------------===//

#include "runtime/Handles.h"

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <new>
#include <vector>

using namespace qm::runtime;

namespace {

// A handle, from the least significant bit: kind, 2 bits; place, 22 bits; how
// often the place was used, 40 bits. The kind is never 0, and so no handle is
// null.
static_assert(sizeof(void *) == 8, "a handle has 64 bits");
constexpr int kindBits = 2, placeBits = 22;
constexpr uint64_t placesPerChunk = 4096;
constexpr uint64_t chunks = (1ull << placeBits) / placesPerChunk;

struct Place {
  std::atomic<uint64_t> handle{0}; ///< the live one, else 0
  std::atomic<void *> object{nullptr};
  uint64_t uses = 0;
};

struct Table {
  std::atomic<Place *> chunk[chunks] = {};
  std::mutex mutex; ///< of what follows
  std::vector<uint64_t> free;
  uint64_t used = 0;
};

/// Never destroyed: a handle may be dropped while the process ends.
Table &table() {
  static Table *made = new Table;
  return *made;
}

Place *placeOf(uint64_t handle) {
  uint64_t place = handle >> kindBits & ((1ull << placeBits) - 1);
  Place *chunk =
      table().chunk[place / placesPerChunk].load(std::memory_order_acquire);
  return chunk ? chunk + place % placesPerChunk : nullptr;
}

uint64_t bitsOf(const void *handle) {
  return reinterpret_cast<uintptr_t>(handle);
}

} // namespace

void *qm::runtime::makeHandle(HandleKind kind, void *object) {
  Table &handles = table();
  std::lock_guard<std::mutex> lock(handles.mutex);
  uint64_t index = 0;
  if (!handles.free.empty()) {
    index = handles.free.back();
    handles.free.pop_back();
  } else {
    index = handles.used;
    if (index == chunks * placesPerChunk)
      throw std::bad_alloc();
    std::atomic<Place *> &chunk = handles.chunk[index / placesPerChunk];
    if (!chunk.load(std::memory_order_relaxed))
      chunk.store(new Place[placesPerChunk], std::memory_order_release);
    // Room for every place, so that dropping a handle cannot fail.
    handles.free.reserve(index + 1);
    ++handles.used;
  }
  uint64_t bits = index << kindBits | static_cast<uint64_t>(kind);
  Place *place = placeOf(bits);
  bits |= ++place->uses << (kindBits + placeBits);
  place->object.store(object, std::memory_order_relaxed);
  place->handle.store(bits, std::memory_order_release);
  return reinterpret_cast<void *>(static_cast<uintptr_t>(bits));
}

void qm::runtime::dropHandle(const void *handle) {
  if (!handle)
    return;
  Table &handles = table();
  std::lock_guard<std::mutex> lock(handles.mutex);
  Place *place = placeOf(bitsOf(handle));
  if (!place || place->handle.load(std::memory_order_relaxed) != bitsOf(handle))
    return;
  place->handle.store(0, std::memory_order_relaxed);
  handles.free.push_back(bitsOf(handle) >> kindBits &
                         ((1ull << placeBits) - 1));
}

void *qm::runtime::findHandle(HandleKind kind, const void *handle) {
  uint64_t bits = bitsOf(handle);
  if ((bits & ((1u << kindBits) - 1)) != static_cast<uint64_t>(kind))
    return nullptr;
  Place *place = placeOf(bits);
  if (!place || place->handle.load(std::memory_order_acquire) != bits)
    return nullptr;
  return place->object.load(std::memory_order_relaxed);
}
