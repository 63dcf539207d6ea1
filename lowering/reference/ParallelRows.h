//===- ParallelRows.h - a range split over threads --------------*- C++ -*-===//
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <thread>
#include <vector>

namespace qm::reference {

/// Calls `makeWorker()` once a thread and its result for each of [0, count),
/// handed out one at a time.
template <typename MakeWorker>
void parallelFor(int64_t count, unsigned threads, MakeWorker makeWorker) {
  if (threads == 0)
    threads = std::max(1u, std::thread::hardware_concurrency());
  threads = static_cast<unsigned>(std::min<int64_t>(threads, count));
  std::atomic<int64_t> next = 0;
  auto body = [&] {
    auto worker = makeWorker();
    for (int64_t item; (item = next.fetch_add(1)) < count;)
      worker(item);
  };
  std::vector<std::thread> others;
  for (unsigned thread = 1; thread < threads; ++thread)
    others.emplace_back(body);
  if (count > 0)
    body();
  for (std::thread &thread : others)
    thread.join();
}

} // namespace qm::reference
