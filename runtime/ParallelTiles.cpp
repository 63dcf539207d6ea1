//===- ParallelTiles.cpp - run a CPU kernel's tiles on all cores ----------===//

#include "runtime/ParallelTiles.h"

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <mutex>
#include <pthread.h>
#include <system_error>
#include <thread>
#include <vector>

using namespace qm::runtime;

namespace {

/// More threads than this is a caller's mistake, not a machine.
constexpr unsigned maxThreads = 1024;

/// Chunks a thread gets on average: enough that the last one to finish adds
/// about 1/32 of a thread's share, few enough that the shared counter is quiet.
constexpr int64_t chunksPerThread = 32;

/// One call of parallelTiles; lives on the caller's stack.
struct Job {
  TileEntry entry;
  const int64_t *slots;
  int64_t tiles;
  int64_t chunk;
  std::atomic<int64_t> next{0};
  // Guarded by the pool's mutex.
  unsigned openSeats;  // helpers that may still join
  unsigned inside = 0; // helpers at work
  Job *after = nullptr;

  void work() {
    for (;;) {
      int64_t begin = next.fetch_add(chunk, std::memory_order_relaxed);
      if (begin >= tiles)
        return;
      entry(slots, begin, std::min(begin + chunk, tiles));
    }
  }
};

class Pool {
public:
  Pool() = default;

  ~Pool() {
    {
      std::lock_guard<std::mutex> lock(mutex);
      stopping = true;
    }
    jobArrived.notify_all();
    for (std::thread &worker : workers)
      worker.join();
  }

  void run(Job &job) {
    unsigned helpers = job.openSeats;
    {
      std::lock_guard<std::mutex> lock(mutex);
      grow(helpers);
      job.after = jobs;
      jobs = &job;
    }
    for (unsigned i = 0; i < helpers; ++i)
      jobArrived.notify_one();
    job.work();

    std::unique_lock<std::mutex> lock(mutex);
    unlink(job); // from here on nobody joins
    helperLeft.wait(lock, [&] { return job.inside == 0; });
  }

private:
  void grow(unsigned count) {
    if (workers.size() >= count)
      return;
    workers.reserve(count);
    try {
      while (workers.size() < count)
        workers.emplace_back([this] { serve(); });
    } catch (const std::system_error &) {
      // The system gives no more threads: those that exist, and the caller,
      // still run every tile.
    }
  }

  void unlink(Job &job) {
    Job **link = &jobs;
    while (*link != &job)
      link = &(*link)->after;
    *link = job.after;
  }

  Job *findSeat() {
    for (Job *job = jobs; job; job = job->after)
      if (job->openSeats > 0 &&
          job->next.load(std::memory_order_relaxed) < job->tiles)
        return job;
    return nullptr;
  }

  void serve() {
    std::unique_lock<std::mutex> lock(mutex);
    for (;;) {
      Job *job = nullptr;
      jobArrived.wait(lock, [&] { return stopping || (job = findSeat()); });
      if (stopping)
        return;
      --job->openSeats;
      ++job->inside;
      lock.unlock();
      job->work();
      lock.lock();
      // Notified under the lock: the job dies as soon as its caller sees 0.
      if (--job->inside == 0)
        helperLeft.notify_all();
    }
  }

  std::mutex mutex;
  std::condition_variable jobArrived, helperLeft;
  std::vector<std::thread> workers;
  Job *jobs = nullptr;
  bool stopping = false;
};

/// Owns the process's pool. A forked child has none of its parent's threads,
/// and a lock may be held by one of them: it gets a new pool and leaves the old
/// one alone, as reachable memory and no leak.
class PoolHolder {
public:
  PoolHolder() {
    pool = new Pool;
    pthread_atfork(nullptr, nullptr, [] {
      inherited = pool.load();
      pool = new Pool;
    });
  }
  ~PoolHolder() { delete pool; }

  static inline std::atomic<Pool *> pool{nullptr};
  static inline Pool *inherited = nullptr;
};

Pool &pool() {
  static PoolHolder holder;
  return *holder.pool;
}

} // namespace

unsigned qm::runtime::defaultThreadCount() {
  // On Linux this is the size of the process's affinity mask.
  static const unsigned count =
      std::max(1u, std::thread::hardware_concurrency());
  return count;
}

void qm::runtime::parallelTiles(TileEntry entry, const int64_t *slots,
                                int64_t tiles, unsigned threads) {
  if (tiles <= 0)
    return;
  if (threads == 0)
    threads = defaultThreadCount();
  threads = static_cast<unsigned>(
      std::min<int64_t>(std::min(threads, maxThreads), tiles));
  if (threads == 1) {
    entry(slots, 0, tiles);
    return;
  }
  Job job;
  job.entry = entry;
  job.slots = slots;
  job.tiles = tiles;
  job.chunk = std::max<int64_t>(1, tiles / (threads * chunksPerThread));
  job.openSeats = threads - 1;
  pool().run(job);
}
