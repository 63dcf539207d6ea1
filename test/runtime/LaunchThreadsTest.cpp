//===- LaunchThreadsTest.cpp - launches from many threads at once ---------===//
//
// Images that load, maps that are kept and counters of streams are shared by
// the threads. A build with -fsanitize=thread runs this for races.
//
//===----------------------------------------------------------------------===//

#include "test/runtime/CudaFixture.h"

#include <atomic>
#include <thread>

using probe::Arguments;

namespace {

constexpr int threadCount = 8, rounds = 50, counters = 4;

const char *const withEverything = R"("ctas_per_sm": 32, "tile_counters": 4,
  "tensor_maps": [
    {"argument": "q", "box": [64, 128, 1, 1], "swizzle_bytes": 128},
    {"argument": "k", "box": [8, 16, 1, 1], "swizzle_bytes": 0}])";

FakeCuda *driver;
std::atomic<int> wrong;
void *owners[2][counters]; ///< by device and counter: the stream that has it

/// Is each launch whole: the maps those of its slots, the counter its stream's?
/// The fake driver runs one at a time.
void checkLaunch(const int64_t *slots, int64_t begin, int64_t end) {
  const FakeLaunch &launch = driver->last;
  for (int i = 0; i < 2; ++i) {
    FakeTensorMap map;
    memcpy(&map, launch.maps[i], sizeof map);
    int64_t address = slots[i == 0 ? 0 : 9]; // q: address, 4 extents, 4 strides
    wrong += reinterpret_cast<int64_t>(map.address) != address;
  }
  if (launch.tileCounter >= 0) {
    void *&owner = owners[launch.context->device][launch.tileCounter];
    wrong += owner && owner != launch.stream;
    owner = launch.stream;
  }
  probe::run(slots, begin, end);
}

class LaunchThreads : public CudaFixture {
protected:
  void SetUp() override {
    CudaFixture::SetUp();
    driver = &fake();
    driver->kernel = checkLaunch;
    driver->tensorMaps = 2;
    driver->tileCounter = true;
    wrong = 0;
    memset(owners, 0, sizeof owners);
    kernel = load({"sm_80:ptx"}, withEverything);
  }
  /// What one thread does: both devices, two shapes, a stream of its own.
  void work(int number) {
    FakeStream streams[] = {
        {&fake().primary[0], 10ull + 2 * number},
        {&fake().primary[1], 11ull + 2 * number},
    };
    for (int round = 0; round < rounds; ++round)
      for (int device = 0; device < 2; ++device) {
        Arguments arguments({kDLCUDA, device}, 1 + round % 2);
        int status = launch(kernel, arguments, &streams[device]);
        wrong += status != QM_OK || !arguments.outputsAreRight();
      }
  }
  const qm_kernel *kernel;
};

TEST_F(LaunchThreads, EachCallIsItsOwn) {
  std::vector<std::thread> threads;
  for (int i = 0; i < threadCount; ++i)
    threads.emplace_back([this, i] { work(i); });
  for (std::thread &thread : threads)
    thread.join();
  EXPECT_EQ(wrong, 0);
  EXPECT_EQ(fake().launches, threadCount * rounds * 2);
  EXPECT_EQ(fake().loads, 2) << "an image a device";
}

} // namespace
