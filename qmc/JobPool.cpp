//===- JobPool.cpp - independent jobs on several threads ------------------===//
#include "qmc/JobPool.h"
#include "qmc/Console.h"

#include "llvm/ADT/Twine.h"

#include <algorithm>
#include <atomic>
#include <exception>
#include <mutex>
#include <thread>
#include <vector>

using namespace llvm;
using namespace qm::driver;

void qm::driver::runJobs(size_t count, unsigned threads,
                         function_ref<std::string(size_t)> describe,
                         function_ref<void(size_t)> job) {
  std::atomic<size_t> next{0}, done{0};
  std::exception_ptr failure;
  std::mutex mutex;
  auto work = [&] {
    for (size_t i = next++; i < count; i = next++) {
      setStatus("[" + Twine(done.load()) + "/" + Twine(count) + "] " +
                describe(i));
      try {
        job(i);
      } catch (...) {
        std::lock_guard<std::mutex> lock(mutex);
        failure = std::current_exception();
      }
      ++done;
    }
  };
  if (threads == 0)
    threads = std::max(1u, std::thread::hardware_concurrency());
  std::vector<std::thread> pool;
  for (size_t i = 1; i < std::min<size_t>(threads, count); ++i)
    pool.emplace_back(work);
  work();
  for (std::thread &thread : pool)
    thread.join();
  setStatus("");
  if (failure)
    std::rethrow_exception(failure);
}
