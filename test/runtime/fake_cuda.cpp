//===- fake_cuda.cpp - a CUDA driver without a GPU ------------------------===//

#include "test/runtime/fake_cuda.h"

#include <cstdlib>
#include <cstring>
#include <mutex>

// Every function of the driver that the runtime uses; FAKE_OLD_DRIVER leaves
// one out.
#define EXPORT extern "C" __attribute__((visibility("default"))) int

static FakeCuda state;
/// Of the records that launches of several threads write.
static std::mutex records;

// A thread's contexts; the last is current. Deep enough for any test.
static thread_local FakeContext *stack[16];
static thread_local int depth = 0;

extern "C" {
__attribute__((visibility("default"))) FakeCuda *fakeCuda() { return &state; }
__attribute__((visibility("default"))) FakeContext *fakeCudaCurrent() {
  return depth ? stack[depth - 1] : nullptr;
}
__attribute__((visibility("default"))) void
fakeCudaSetCurrent(FakeContext *context) {
  depth = 0;
  if (context)
    stack[depth++] = context;
}
}

namespace {
struct FakeModule {
  const void *image;
};
} // namespace

/// The injected failure of `function`, or 0.
static int injected(const char *function) {
  if (!state.failingFunction || strcmp(state.failingFunction, function) != 0)
    return 0;
  return state.failure;
}
#define MAY_FAIL(function)                                                     \
  if (int failure = injected(#function))                                       \
  return failure

EXPORT cuInit(unsigned) {
  MAY_FAIL(cuInit);
  ++state.initialisations;
  // For tests that run a whole program on the fake driver.
  const char *failure = getenv("FAKE_CUDA_INIT");
  return failure ? atoi(failure) : 0;
}
EXPORT cuGetErrorName(int, const char **name) {
  *name = "CUDA_ERROR_FAKE";
  return 0;
}
EXPORT cuGetErrorString(int, const char **text) {
  *text = "injected by a test";
  return 0;
}
EXPORT cuDeviceGetCount(int *count) {
  MAY_FAIL(cuDeviceGetCount);
  *count = state.devices;
  return 0;
}
// Handles differ from ordinals, so that a mix-up shows.
EXPORT cuDeviceGet(int *device, int ordinal) {
  *device = ordinal + 100;
  return 0;
}
EXPORT cuDeviceGetAttribute(int *value, int attribute, int device) {
  MAY_FAIL(cuDeviceGetAttribute);
  int ordinal = device - 100;
  *value = attribute == 75   ? state.major[ordinal]
           : attribute == 76 ? state.minor[ordinal]
           : attribute == 97 ? state.maxShared[ordinal]
           : attribute == 16 ? state.multiprocessors
                             : 0;
  return 0;
}
EXPORT cuDeviceGetName(char *name, int bytes, int) {
  strncpy(name, "Fake GPU", bytes);
  return 0;
}
EXPORT cuDevicePrimaryCtxRetain(FakeContext **context, int device) {
  MAY_FAIL(cuDevicePrimaryCtxRetain);
  std::lock_guard<std::mutex> lock(records);
  ++state.retains;
  *context = &state.primary[device - 100];
  return 0;
}
EXPORT cuCtxGetCurrent(FakeContext **context) {
  MAY_FAIL(cuCtxGetCurrent);
  *context = fakeCudaCurrent();
  return 0;
}
EXPORT cuCtxGetDevice(int *device) {
  if (!depth)
    return 201;
  *device = stack[depth - 1]->device + 100;
  return 0;
}
EXPORT cuCtxGetId(FakeContext *context, unsigned long long *id) {
  *id = context->id;
  return 0;
}
EXPORT cuCtxPushCurrent_v2(FakeContext *context) {
  MAY_FAIL(cuCtxPushCurrent);
  if (depth == 16)
    return 1;
  stack[depth++] = context;
  return 0;
}
EXPORT cuCtxPopCurrent_v2(FakeContext **context) {
  if (!depth)
    return 201;
  *context = stack[--depth];
  return 0;
}
#ifndef FAKE_OLD_DRIVER
EXPORT cuStreamGetCtx(FakeStream *stream, FakeContext **context) {
  MAY_FAIL(cuStreamGetCtx);
  *context = stream->context;
  return 0;
}
#endif

EXPORT cuModuleLoadDataEx(FakeModule **module, const void *image,
                          unsigned options, int *keys, void **values) {
  ++state.loads;
  for (unsigned i = 0; state.jitLog && i < options; ++i)
    if (keys[i] == 5) // the buffer of the error log; its size comes next
      strncpy(static_cast<char *>(values[i]), state.jitLog,
              reinterpret_cast<size_t>(values[i + 1]));
  MAY_FAIL(cuModuleLoadDataEx);
  if (state.anyCapture && state.captureMode != 2)
    return 900; // CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED
  if (!depth)
    return 201;
  *module = new FakeModule{image};
  return 0;
}
EXPORT cuModuleUnload(FakeModule *module) {
  ++state.unloads;
  delete module;
  return 0;
}
EXPORT cuModuleGetFunction(FakeModule **function, FakeModule *module,
                           const char *name) {
  state.requestedEntry = name;
  MAY_FAIL(cuModuleGetFunction);
  *function = module;
  return 0;
}
EXPORT cuFuncGetAttribute(int *value, int attribute, FakeModule *) {
  MAY_FAIL(cuFuncGetAttribute);
  *value = attribute == 0 ? state.maxThreads : state.staticShared;
  return 0;
}
EXPORT cuFuncSetAttribute(FakeModule *, int attribute, int value) {
  MAY_FAIL(cuFuncSetAttribute);
  if (attribute == 8)
    state.dynamicShared = value;
  return 0;
}
EXPORT cuStreamGetId(FakeStream *stream, unsigned long long *id) {
  MAY_FAIL(cuStreamGetId);
  *id = stream ? stream->id : 0;
  return 0;
}
EXPORT cuStreamIsCapturing(FakeStream *stream, int *capturing) {
  *capturing = stream && stream->capturing;
  return 0;
}
EXPORT cuThreadExchangeStreamCaptureMode(int *mode) {
  int old = state.captureMode;
  state.captureMode = *mode;
  *mode = old;
  return 0;
}
EXPORT cuFuncGetParamInfo(FakeModule *, size_t index, size_t *offset,
                          size_t *bytes) {
  size_t maps = state.tensorMaps;
  if (index > maps + state.tileCounter)
    return 1;
  *offset = 0;
  *bytes = index == 0 ? state.slots * 8 : index <= maps ? 128 : 4;
  return 0;
}
EXPORT cuTensorMapEncodeTiled(void *map, int type, unsigned rank, void *address,
                              const uint64_t *extents, const uint64_t *strides,
                              const uint32_t *box, const uint32_t *, int,
                              int swizzle, int, int) {
  MAY_FAIL(cuTensorMapEncodeTiled);
  std::lock_guard<std::mutex> lock(records);
  ++state.encodes;
  FakeTensorMap made = {};
  made.address = address;
  made.type = static_cast<int8_t>(type);
  made.rank = static_cast<int8_t>(rank);
  made.swizzle = static_cast<int8_t>(swizzle);
  memcpy(made.extents, extents, rank * sizeof *extents);
  memcpy(made.strides, strides, (rank - 1) * sizeof *strides);
  memcpy(made.box, box, rank * sizeof *box);
  static_assert(sizeof made <= 128);
  memcpy(map, &made, sizeof made);
  return 0;
}
EXPORT cuLaunchKernel(FakeModule *function, unsigned gridX, unsigned gridY,
                      unsigned gridZ, unsigned blockX, unsigned blockY,
                      unsigned blockZ, unsigned sharedBytes, void *stream,
                      void **parameters, void **extra) {
  MAY_FAIL(cuLaunchKernel);
  if (gridY != 1 || gridZ != 1 || blockY != 1 || blockZ != 1 || extra || !depth)
    return 1;
  std::lock_guard<std::mutex> lock(records); // the kernel runs under it, too
  ++state.launches;
  state.last.grid = gridX;
  state.last.block = blockX;
  state.last.sharedBytes = sharedBytes;
  state.last.stream = stream;
  state.last.context = fakeCudaCurrent();
  state.last.image = function->image;
  memcpy(state.last.slots, parameters[0], state.slots * 8);
  for (int i = 0; i < state.tensorMaps; ++i)
    memcpy(state.last.maps[i], parameters[1 + i], 128);
  if (state.tileCounter)
    memcpy(&state.last.tileCounter, parameters[1 + state.tensorMaps], 4);
  if (state.kernel)
    state.kernel(state.last.slots, 0, gridX);
  return 0;
}

EXPORT cuMemAlloc_v2(unsigned long long *address, size_t bytes) {
  MAY_FAIL(cuMemAlloc);
  *address = reinterpret_cast<unsigned long long>(
      aligned_alloc(256, (bytes + 255) / 256 * 256));
  return 0;
}
EXPORT cuMemFree_v2(unsigned long long address) {
  free(reinterpret_cast<void *>(address));
  return 0;
}
EXPORT cuMemcpyHtoD_v2(unsigned long long to, const void *from, size_t bytes) {
  memcpy(reinterpret_cast<void *>(to), from, bytes);
  return 0;
}
EXPORT cuMemcpyDtoH_v2(void *to, unsigned long long from, size_t bytes) {
  memcpy(to, reinterpret_cast<const void *>(from), bytes);
  return 0;
}
EXPORT cuStreamCreate(FakeStream **stream, unsigned) {
  *stream = new FakeStream{fakeCudaCurrent()};
  return 0;
}
EXPORT cuStreamDestroy_v2(FakeStream *stream) {
  delete stream;
  return 0;
}
EXPORT cuStreamSynchronize(FakeStream *) {
  MAY_FAIL(cuStreamSynchronize);
  return 0;
}
EXPORT cuEventCreate(int **event, unsigned) {
  *event = new int(0);
  return 0;
}
EXPORT cuEventDestroy_v2(int *event) {
  delete event;
  return 0;
}
EXPORT cuEventRecord(int *, FakeStream *) { return 0; }
EXPORT cuEventSynchronize(int *) { return 0; }
EXPORT cuEventElapsedTime(float *milliseconds, int *, int *) {
  *milliseconds = 0.25f;
  return 0;
}
