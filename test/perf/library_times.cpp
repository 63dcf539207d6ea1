//===- library_times.cpp - what a library costs its program ---------------===//
//
// usage: library_times LIBRARY.so OPERATOR HEADS KV_HEADS HEAD_DIM
//
// Prints a JSON object: the times of loading the library, of the first launch
// of an operator on q, k, v and o in bf16 and of launches after it, on the GPU
// that the driver shows (or the fake one that QM_CUDA_DRIVER names); what the
// driver alone takes to launch an empty kernel, in turns with ours; and whether
// a launch may be captured into a graph though its kernel is not loaded yet.
// Uses nothing of CUDA but the driver's functions.
//
//===----------------------------------------------------------------------===//

#include "runtime/qm.h"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <dlfcn.h>
#include <type_traits>
#include <vector>

namespace {

using Clock = std::chrono::steady_clock;
using Address = unsigned long long;

double milliseconds(Clock::time_point start) {
  return std::chrono::duration<double, std::milli>(Clock::now() - start)
      .count();
}

[[noreturn]] void stop(const char *what) {
  fprintf(stderr, "%s: %s\n", what, qm_last_error());
  exit(1);
}
void check(int status, const char *what) {
  if (status)
    stop(what);
}

struct Driver {
  int (*init)(unsigned);
  int (*deviceGet)(int *, int);
  int (*retain)(void **, int);
  int (*push)(void *);
  int (*alloc)(Address *, size_t);
  int (*toHost)(void *, Address, size_t);
  int (*toDevice)(Address, const void *, size_t);
  int (*streamCreate)(void **, unsigned);
  int (*synchronize)(void *);
  // Not in the fake driver.
  int (*beginCapture)(void *, int);
  int (*endCapture)(void *, void **);
  int (*instantiate)(void **, void *, unsigned long long);
  int (*launchGraph)(void *, void *);
  int (*loadModule)(void **, const void *);
  int (*getFunction)(void **, void *, const char *);
  int (*launchKernel)(void *, unsigned, unsigned, unsigned, unsigned, unsigned,
                      unsigned, unsigned, void *, void **, void **);
  int (*name)(char *, int, int);

  Driver() {
    const char *named = getenv("QM_CUDA_DRIVER");
    void *library = dlopen(named ? named : "libcuda.so.1", RTLD_NOW);
    if (!library)
      stop("no driver");
    auto find = [&](auto &function, const char *symbol) {
      function = reinterpret_cast<std::decay_t<decltype(function)>>(
          dlsym(library, symbol));
    };
    find(init, "cuInit");
    find(deviceGet, "cuDeviceGet");
    find(retain, "cuDevicePrimaryCtxRetain");
    find(push, "cuCtxPushCurrent_v2");
    find(alloc, "cuMemAlloc_v2");
    find(toHost, "cuMemcpyDtoH_v2");
    find(toDevice, "cuMemcpyHtoD_v2");
    find(streamCreate, "cuStreamCreate");
    find(synchronize, "cuStreamSynchronize");
    find(beginCapture, "cuStreamBeginCapture_v2");
    find(endCapture, "cuStreamEndCapture");
    find(instantiate, "cuGraphInstantiateWithFlags");
    find(launchGraph, "cuGraphLaunch");
    find(loadModule, "cuModuleLoadData");
    find(getFunction, "cuModuleGetFunction");
    find(launchKernel, "cuLaunchKernel");
    find(name, "cuDeviceGetName");
  }
};

struct Tensor {
  int64_t shape[4];
  size_t bytes;
  Address memory = 0;
  DLTensor dl = {};

  Tensor(const Driver &driver, int64_t heads, int64_t length, int64_t dim)
      : shape{1, heads, length, dim}, bytes(2 * heads * length * dim) {
    std::vector<uint16_t> data(bytes / 2);
    for (size_t i = 0; i < data.size(); ++i) // bf16 from 0.5 to 2, both signs
      data[i] = static_cast<uint16_t>(0x3f00 | (i * 37 & 0xff) | (i << 15));
    check(driver.alloc(&memory, bytes), "cuMemAlloc");
    check(driver.toDevice(memory, data.data(), bytes), "cuMemcpyHtoD");
    dl.data = reinterpret_cast<void *>(memory);
    dl.device = {kDLCUDA, 0};
    dl.ndim = 4;
    dl.dtype = {kDLBfloat, 16, 1};
    dl.shape = shape;
  }
  std::vector<uint16_t> read(const Driver &driver) const {
    std::vector<uint16_t> data(bytes / 2);
    check(driver.toHost(data.data(), memory, bytes), "cuMemcpyDtoH");
    return data;
  }
};

double quantile(std::vector<double> values, double share) {
  if (values.empty())
    return 0;
  auto place = values.begin() + static_cast<size_t>(values.size() * share);
  std::nth_element(values.begin(), place, values.end());
  return *place;
}
double median(const std::vector<double> &values) {
  return quantile(values, 0.5);
}

/// A kernel that does nothing and takes nothing; null on the fake driver.
void *emptyKernel(const Driver &driver) {
  void *module = nullptr, *function = nullptr;
  if (!driver.loadModule)
    return nullptr;
  check(driver.loadModule(&module,
                          ".version 6.0\n.target sm_50\n.address_size 64\n"
                          ".visible .entry nothing() { ret; }\n"),
        "cuModuleLoadData");
  check(driver.getFunction(&function, module, "nothing"),
        "cuModuleGetFunction");
  return function;
}

/// Launches `count` times, fewer than the queue of a stream holds: a full one
/// makes a launch wait for the GPU.
template <typename Launch>
void timeEach(int count, std::vector<double> &microseconds, Launch launch) {
  for (int i = 0; i < count; ++i) {
    auto start = Clock::now();
    launch();
    microseconds.push_back(milliseconds(start) * 1000);
  }
}

const qm_operator *load(const char *path, const char *name,
                        qm_library *&library, double &time) {
  const qm_operator *op = nullptr;
  auto start = Clock::now();
  check(qm_library_load(path, &library), "qm_library_load");
  time = milliseconds(start);
  check(qm_library_find_operator(library, name, &op), "find");
  return op;
}

} // namespace

int main(int argc, char **argv) {
  if (argc != 6) {
    fprintf(stderr, "usage: library_times LIBRARY.so OPERATOR HEADS KV_HEADS "
                    "HEAD_DIM\n");
    return 1;
  }
  int64_t heads = atoll(argv[3]), kvHeads = atoll(argv[4]);
  int64_t dim = atoll(argv[5]), length = 1024;
  qm_library *library = nullptr;
  double coldLoad = 0;
  const qm_operator *op = load(argv[1], argv[2], library, coldLoad);
  size_t kernels = qm_library_kernel_count(library);

  Driver driver;
  int device = 0;
  void *context = nullptr, *stream = nullptr;
  char name[100] = "";
  check(driver.init(0), "cuInit");
  check(driver.deviceGet(&device, 0), "cuDeviceGet");
  check(driver.name(name, sizeof name, device), "cuDeviceGetName");
  check(driver.retain(&context, device), "cuDevicePrimaryCtxRetain");
  check(driver.push(context), "cuCtxPushCurrent");
  check(driver.streamCreate(&stream, 1), "cuStreamCreate");
  Tensor q(driver, heads, length, dim), k(driver, kvHeads, length, dim);
  Tensor v(driver, kvHeads, length, dim), o(driver, heads, length, dim);
  qm_value values[] = {qm_tensor(&q.dl), qm_tensor(&k.dl), qm_tensor(&v.dl),
                       qm_tensor(&o.dl)};
  qm_launch_options options = {sizeof options, stream, 0, 0};
  auto launch = [&] {
    check(qm_operator_launch(op, values, 4, &options), "qm_operator_launch");
  };

  auto start = Clock::now();
  launch();
  double firstCall = milliseconds(start);
  check(driver.synchronize(stream), "cuStreamSynchronize");
  double firstLaunch = milliseconds(start);
  std::vector<uint16_t> expected = o.read(driver);

  // The first rounds touch the driver's queues for the first time.
  constexpr int rounds = 100, warmUp = 20, inFlight = 256;
  std::vector<double> launches, floor;
  void *nothing = emptyKernel(driver);
  for (int round = 0; round < rounds + warmUp; ++round) {
    if (round == warmUp) {
      launches.clear();
      floor.clear();
    }
    timeEach(inFlight, launches, launch);
    check(driver.synchronize(stream), "cuStreamSynchronize");
    if (!nothing)
      continue;
    timeEach(inFlight, floor, [&] {
      check(driver.launchKernel(nothing, 1, 1, 1, 32, 1, 1, 0, stream, nullptr,
                                nullptr),
            "cuLaunchKernel");
    });
    check(driver.synchronize(stream), "cuStreamSynchronize");
  }

  // A fresh copy has loaded nothing: its first launch is a captured one.
  qm_library_destroy(library);
  std::vector<double> loads;
  for (int i = 0; i < 9; ++i) {
    double time = 0;
    op = load(argv[1], argv[2], library, time);
    loads.push_back(time);
    if (i < 8)
      qm_library_destroy(library);
  }
  const char *graphResult = "not tried";
  if (driver.beginCapture && driver.launchGraph) {
    void *graph = nullptr, *executable = nullptr;
    check(driver.toDevice(o.memory, std::vector<char>(o.bytes).data(), o.bytes),
          "clear");
    check(driver.beginCapture(stream, 0), "cuStreamBeginCapture");
    launch();
    check(driver.endCapture(stream, &graph), "cuStreamEndCapture");
    check(driver.instantiate(&executable, graph, 0), "cuGraphInstantiate");
    check(driver.launchGraph(executable, stream), "cuGraphLaunch");
    check(driver.synchronize(stream), "cuStreamSynchronize");
    graphResult = o.read(driver) == expected ? "same bits" : "different";

    // Misuse: the legacy default stream while another is captured.
    check(driver.beginCapture(stream, 0), "cuStreamBeginCapture");
    qm_launch_options wrong = {sizeof wrong, nullptr, 0, 0};
    int status = qm_operator_launch(op, values, 4, &wrong);
    fprintf(stderr, "default stream during capture: %d, %s\n", status,
            qm_last_error());
    driver.endCapture(stream, &graph);
  }
  qm_library_destroy(library);
  printf("{\"gpu\": \"%s\", \"kernels\": %zu, \"cold_load_ms\": %.3f, "
         "\"load_ms\": %.3f, \"first_call_ms\": %.3f, \"first_launch_ms\": "
         "%.3f, \"launch_us\": %.3f, \"launch_p90_us\": %.3f, \"driver_us\": "
         "%.3f, \"graph\": \"%s\"}\n",
         name, kernels, coldLoad, median(loads), firstCall, firstLaunch,
         median(launches), quantile(launches, 0.9), median(floor), graphResult);
  return strcmp(graphResult, "different") == 0;
}
