//===- TileCounters.h - a counter of the image for each stream --*- C++ -*-===//
//
// A kernel with a run-time order of tiles takes their numbers from one of the
// counters in its image, and leaves the counter as it found it. Launches on one
// stream run one after another and may share a counter; launches on different
// streams may not. So a stream gets a counter the first time it launches and
// keeps it: streams are told apart by their ids, which are never used again.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "runtime/cuda/Driver.h"

#include <atomic>

namespace qm::runtime::cuda {

/// Counters an image may have.
constexpr int64_t maxTileCounters = 1024;

class TileCounters {
public:
  /// The counter for a launch on `stream`, of the image's first `count`; -1, a
  /// fixed order of tiles, where no counter is certain to be free: on a stream
  /// that is being captured (a graph may run on any stream, next to itself),
  /// when the counters are used up, or where the driver has no ids.
  int32_t get(const Driver &driver, Stream stream, int64_t count);

private:
  /// Stream id + 1 of each counter's stream; 0: free.
  std::atomic<unsigned long long> owners[maxTileCounters] = {};
};

} // namespace qm::runtime::cuda
