//===- ParallelTilesTest.cpp - every tile runs once, whoever calls --------===//

#include "runtime/ParallelTiles.h"

#include <atomic>
#include <cerrno>
#include <chrono>
#include <ctime>
#include <gtest/gtest.h>
#include <pthread.h>
#include <set>
#include <sys/wait.h>
#include <thread>
#include <ucontext.h>
#include <unistd.h>
#include <vector>

using qm::runtime::parallelTiles;

// Linked with --wrap=pthread_create: what the pool calls.
static std::atomic<bool> noMoreThreads{false};
extern "C" int __real_pthread_create(pthread_t *, const pthread_attr_t *,
                                     void *(*)(void *), void *);
extern "C" int __wrap_pthread_create(pthread_t *thread,
                                     const pthread_attr_t *attributes,
                                     void *(*run)(void *), void *argument) {
  return noMoreThreads
             ? EAGAIN
             : __real_pthread_create(thread, attributes, run, argument);
}

namespace {

/// Counts in memory that slots[0] points to.
void count(const int64_t *slots, int64_t begin, int64_t end) {
  auto *hits = reinterpret_cast<std::atomic<int> *>(slots[0]);
  for (int64_t tile = begin; tile < end; ++tile)
    ++hits[tile];
}

void expectEachRunsOnce(int64_t tiles, unsigned threads) {
  std::vector<std::atomic<int>> hits(tiles);
  int64_t slot = reinterpret_cast<int64_t>(hits.data());
  parallelTiles(count, &slot, tiles, threads);
  for (auto &hit : hits)
    ASSERT_EQ(hit, 1) << tiles << " tiles on " << threads << " threads";
}

TEST(ParallelTiles, RunsEveryTileOnce) {
  for (int64_t tiles : {1, 2, 3, 63, 64, 65, 1000, 12345})
    for (unsigned threads : {0u, 1u, 2u, 3u, 7u, 64u})
      expectEachRunsOnce(tiles, threads);
}

TEST(ParallelTiles, NoTilesCallNothing) {
  parallelTiles(nullptr, nullptr, 0, 0);
  parallelTiles(nullptr, nullptr, -5, 4);
}

TEST(ParallelTiles, AbsurdThreadCountsAreSurvived) {
  expectEachRunsOnce(5, 4000000000u);
}

TEST(ParallelTiles, ConcurrentCallersDoNotMixTiles) {
  std::vector<std::thread> callers;
  for (int i = 0; i < 6; ++i)
    callers.emplace_back([i] {
      for (int round = 0; round < 300; ++round)
        expectEachRunsOnce(50 + i, 0);
    });
  for (std::thread &caller : callers)
    caller.join();
}

void nested(const int64_t *slots, int64_t begin, int64_t end) {
  for (int64_t tile = begin; tile < end; ++tile)
    parallelTiles(count, slots, 10, 4);
}

TEST(ParallelTiles, AKernelMayCallIt) {
  std::vector<std::atomic<int>> hits(10);
  int64_t slot = reinterpret_cast<int64_t>(hits.data());
  parallelTiles(nested, &slot, 40, 4);
  for (auto &hit : hits)
    EXPECT_EQ(hit, 40);
}

void waitForCompany(const int64_t *slots, int64_t, int64_t) {
  auto *arrived = reinterpret_cast<std::atomic<int> *>(slots[0]);
  ++*arrived;
  auto patience = std::chrono::steady_clock::now() + std::chrono::seconds(20);
  while (*arrived < 3 && std::chrono::steady_clock::now() < patience)
    std::this_thread::yield();
}

TEST(ParallelTiles, ThreadsWorkAtTheSameTime) {
  std::atomic<int> arrived{0};
  int64_t slot = reinterpret_cast<int64_t>(&arrived);
  parallelTiles(waitForCompany, &slot, 3, 3);
  EXPECT_EQ(arrived, 3);
}

/// Touches as much stack as the CPU lowering allows a tile.
void useStack(const int64_t *slots, int64_t begin, int64_t end) {
  volatile char scratch[2 << 20];
  for (size_t i = 0; i < sizeof scratch; i += 4096)
    scratch[i] = 1;
  count(slots, begin, end);
}

struct SmallCaller {
  unsigned threads;
  bool ran = false;
  bool alone = false; // no thread can be made for it
  std::vector<std::atomic<int>> hits = std::vector<std::atomic<int>>(100);

  static void *run(void *self) {
    auto &caller = *static_cast<SmallCaller *>(self);
    int64_t slot = reinterpret_cast<int64_t>(caller.hits.data());
    if (caller.alone)
      noMoreThreads = true;
    caller.ran = parallelTiles(useStack, &slot, 100, caller.threads);
    return nullptr;
  }
};

void callFromSmallStack(SmallCaller &caller) {
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  pthread_attr_setstacksize(&attributes, 256 << 10);
  pthread_t thread;
  ASSERT_EQ(pthread_create(&thread, &attributes, SmallCaller::run, &caller), 0);
  pthread_join(thread, nullptr);
  pthread_attr_destroy(&attributes);
}

TEST(ParallelTiles, ACallerWithASmallStackWaitsForHelpers) {
  for (unsigned threads : {0u, 1u, 2u, 5u}) {
    SmallCaller caller{threads};
    callFromSmallStack(caller);
    EXPECT_TRUE(caller.ran);
    for (auto &hit : caller.hits)
      ASSERT_EQ(hit, 1);
  }
}

TEST(ParallelTiles, ACoroutineWaitsForHelpers) {
  static ucontext_t thread, coroutine;
  static SmallCaller caller{2};
  std::vector<char> stack(64 << 10);
  getcontext(&coroutine);
  coroutine.uc_stack.ss_sp = stack.data();
  coroutine.uc_stack.ss_size = stack.size();
  coroutine.uc_link = &thread;
  makecontext(&coroutine, [] { SmallCaller::run(&caller); }, 0);
  swapcontext(&thread, &coroutine);
  EXPECT_TRUE(caller.ran);
  EXPECT_EQ(caller.hits[99], 1);
}

/// In a child, whose pool has no threads yet and gets none.
int inChildWithoutThreads(int (*run)()) {
  pid_t child = fork();
  if (child == 0)
    _exit(run());
  int status = 0;
  EXPECT_EQ(waitpid(child, &status, 0), child);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

TEST(ParallelTiles, WithoutMoreThreadsTheCallerDoesAll) {
  EXPECT_EQ(inChildWithoutThreads([] {
              noMoreThreads = true;
              SmallCaller caller{4};
              SmallCaller::run(&caller);
              return caller.ran && caller.hits[99] == 1 ? 0 : 1;
            }),
            0);
}

TEST(ParallelTiles, WithoutRoomAndThreadsNothingRuns) {
  EXPECT_EQ(inChildWithoutThreads([] {
              SmallCaller caller{4, /*ran=*/true};
              caller.alone = true;
              callFromSmallStack(caller);
              return !caller.ran && caller.hits[0] == 0 ? 0 : 1;
            }),
            0);
}

TEST(ParallelTiles, IdleThreadsUseNoTime) {
  expectEachRunsOnce(1000, 4);
  std::clock_t before = std::clock(); // of all threads
  std::this_thread::sleep_for(std::chrono::milliseconds(200));
  double used = static_cast<double>(std::clock() - before) / CLOCKS_PER_SEC;
  EXPECT_LT(used, 0.02);
}

// A forked child has its parent's std::thread objects but not the threads that
// own what they point to: a leak checker would call that lost.
extern "C" const char *__lsan_default_options();
extern "C" const char *__lsan_default_options() { return "detect_leaks=0"; }

TEST(ParallelTiles, AForkedChildComputesAndExits) {
  expectEachRunsOnce(1000, 4);
  pid_t child = fork();
  if (child == 0) {
    std::vector<std::atomic<int>> hits(100);
    int64_t slot = reinterpret_cast<int64_t>(hits.data());
    parallelTiles(count, &slot, 100, 4);
    exit(hits[99] == 1 ? 0 : 1); // runs the pool's destructor
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

} // namespace
