//===- fake_cuda.h - what a test sets and reads in the fake driver --------===//
//
// fake_cuda.cpp is a libcuda.so.1 without a GPU: device memory is host memory,
// a launch calls `kernel`. It records what it is asked and fails where told.
//
//===----------------------------------------------------------------------===//
#pragma once

#include <cstddef>
#include <cstdint>

struct FakeContext {
  int device;
  unsigned long long id;
};

struct FakeStream {
  FakeContext *context;
  unsigned long long id = 1;
  bool capturing = false;
};

struct FakeLaunch {
  unsigned grid, block, sharedBytes;
  void *stream;
  FakeContext *context;
  const void *image;
  int64_t slots[512];
  unsigned char maps[8][128];
  int32_t tileCounter;
};

/// What a tensor map was made of; the "map" itself is a copy of this.
struct FakeTensorMap {
  void *address;
  uint64_t extents[4], strides[3];
  uint32_t box[4];
  int8_t type, rank, swizzle;
};

struct FakeCuda {
  // The machine.
  int devices = 2;
  int major[2] = {8, 9}, minor[2] = {0, 0};
  int maxShared[2] = {166912, 232448};
  FakeContext primary[2] = {{0, 1}, {1, 2}};

  // The image that is loaded: what the driver would say of it.
  int maxThreads = 1024, staticShared = 0;
  int multiprocessors = 3, tensorMaps = 0;
  bool tileCounter = false; ///< its last parameter is one
  int slots = 48;           ///< in its first parameter: those of the probe
  const char *jitLog = nullptr;
  /// A stream is being captured: images load in relaxed mode only.
  bool anyCapture = false;
  int captureMode = 0; ///< of the threads that interact; relaxed is 2
  void (*kernel)(const int64_t *slots, int64_t tileBegin,
                 int64_t tileEnd) = nullptr;

  // The next call of this function gives this result.
  const char *failingFunction = nullptr;
  int failure = 0;

  // Records.
  int initialisations = 0, encodes = 0, loads = 0, unloads = 0, launches = 0,
      retains = 0;
  int dynamicShared = 0; ///< as set by cuFuncSetAttribute
  const char *requestedEntry = nullptr;
  FakeLaunch last = {};
};

extern "C" {
/// Exported by the fake driver.
FakeCuda *fakeCuda();
/// The calling thread's current context.
FakeContext *fakeCudaCurrent();
void fakeCudaSetCurrent(FakeContext *context);
}
