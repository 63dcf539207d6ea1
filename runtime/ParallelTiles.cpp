//===- ParallelTiles.cpp - run a CPU kernel's tiles on all cores ----------===//

#include "runtime/ParallelTiles.h"

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <mutex>
#include <pthread.h>
#include <thread>
#include <vector>

using namespace qm::runtime;

namespace {

/// More threads than this is a caller's mistake, not a machine.
constexpr unsigned maxThreads = 1024;

/// Chunks a thread gets on average: enough that the last one to finish adds
/// about 1/32 of a thread's share, few enough that the shared counter is quiet.
constexpr int64_t chunksPerThread = 32;

/// Of a helper's stack: the tile's, and room for what the C library puts there.
constexpr size_t helperStackBytes = tileStackBytes + (256 << 10);

/// Whether the running thread's stack has room for a tile. Not if the stack is
/// not the thread's own but a coroutine's: nothing is known of it.
bool hasRoomForTile() {
  struct Stack {
    uintptr_t low = 0, high = 0;
    Stack() {
      pthread_attr_t attributes;
      void *address;
      size_t size;
      if (pthread_getattr_np(pthread_self(), &attributes))
        return;
      if (!pthread_attr_getstack(&attributes, &address, &size)) {
        low = reinterpret_cast<uintptr_t>(address);
        high = low + size;
      }
      pthread_attr_destroy(&attributes);
    }
  };
  thread_local const Stack stack;
  auto here = reinterpret_cast<uintptr_t>(__builtin_frame_address(0));
  return here >= stack.low && here < stack.high &&
         here - stack.low >= tileStackBytes;
}

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

  bool isHandedOut() const {
    return next.load(std::memory_order_relaxed) >= tiles;
  }

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
    for (pthread_t worker : workers)
      pthread_join(worker, nullptr);
  }

  /// Runs a job on the caller and helpers, or on helpers alone; false if there
  /// are none.
  bool run(Job &job, bool callerWorks) {
    unsigned helpers = job.openSeats;
    {
      std::lock_guard<std::mutex> lock(mutex);
      grow(helpers);
      if (!callerWorks && workers.empty())
        return false;
      job.after = jobs;
      jobs = &job;
    }
    for (unsigned i = 0; i < helpers; ++i)
      jobArrived.notify_one();
    if (callerWorks)
      job.work();

    std::unique_lock<std::mutex> lock(mutex);
    if (!callerWorks)
      helperLeft.wait(lock,
                      [&] { return job.isHandedOut() && job.inside == 0; });
    unlink(job); // from here on nobody joins
    helperLeft.wait(lock, [&] { return job.inside == 0; });
    return true;
  }

private:
  void grow(unsigned count) {
    if (workers.size() >= count)
      return;
    workers.reserve(count);
    pthread_attr_t attributes;
    pthread_attr_init(&attributes);
    pthread_attr_setstacksize(&attributes, helperStackBytes);
    auto start = [](void *pool) -> void * {
      static_cast<Pool *>(pool)->serve();
      return nullptr;
    };
    pthread_t worker;
    // If the system gives no more threads, those that exist, and the caller,
    // still run every tile.
    while (workers.size() < count &&
           pthread_create(&worker, &attributes, start, this) == 0)
      workers.push_back(worker);
    pthread_attr_destroy(&attributes);
  }

  void unlink(Job &job) {
    Job **link = &jobs;
    while (*link != &job)
      link = &(*link)->after;
    *link = job.after;
  }

  Job *findSeat() {
    for (Job *job = jobs; job; job = job->after)
      if (job->openSeats > 0 && !job->isHandedOut())
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
  std::vector<pthread_t> workers;
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

bool qm::runtime::parallelTiles(TileEntry entry, const int64_t *slots,
                                int64_t tiles, unsigned threads) {
  if (tiles <= 0)
    return true;
  if (threads == 0)
    threads = defaultThreadCount();
  threads = static_cast<unsigned>(
      std::min<int64_t>(std::min(threads, maxThreads), tiles));
  bool callerWorks = hasRoomForTile();
  if (threads == 1 && callerWorks) {
    entry(slots, 0, tiles);
    return true;
  }
  Job job;
  job.entry = entry;
  job.slots = slots;
  job.tiles = tiles;
  job.chunk = std::max<int64_t>(1, tiles / (threads * chunksPerThread));
  job.openSeats = callerWorks ? threads - 1 : threads;
  return pool().run(job, callerWorks);
}
