// A service in C++: worker threads share one library, each with a stream of its
// own where there is a GPU; a decode step is captured into a CUDA graph and
// replayed. Where there is none, the same requests run on the CPU.
//
// The driver is found at run time, as the library finds it: this program links
// no CUDA and starts anywhere.
#include "layers.h"

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <dlfcn.h>
#include <future>
#include <vector>

namespace {

constexpr int64_t heads = 8, kvHeads = 2, dim = 64;

/// The functions of the CUDA driver that this program needs.
struct Cuda {
  using Stream = struct StreamTag *;
  using Graph = struct GraphTag *;
  using Executable = struct ExecutableTag *;
  using Address = unsigned long long;
  int (*init)(unsigned);
  int (*deviceGet)(int *, int);
  int (*retain)(void **, int);
  int (*setCurrent)(void *);
  int (*alloc)(Address *, size_t);
  int (*free)(Address);
  int (*toDevice)(Address, const void *, size_t);
  int (*toHost)(void *, Address, size_t);
  int (*streamCreate)(Stream *, unsigned);
  int (*synchronize)(Stream);
  int (*beginCapture)(Stream, int);
  int (*endCapture)(Stream, Graph *);
  int (*instantiate)(Executable *, Graph, unsigned long long);
  int (*launchGraph)(Executable, Stream);
  void *context = nullptr;

  bool open() {
    const char *named = std::getenv("QM_CUDA_DRIVER");
    void *library = dlopen(named ? named : "libcuda.so.1", RTLD_NOW);
    bool found = library;
    auto find = [&](auto &function, const char *name) {
      function = reinterpret_cast<std::decay_t<decltype(function)>>(
          found ? dlsym(library, name) : nullptr);
      found = found && function;
    };
    find(init, "cuInit");
    find(deviceGet, "cuDeviceGet");
    find(retain, "cuDevicePrimaryCtxRetain");
    find(setCurrent, "cuCtxSetCurrent");
    find(alloc, "cuMemAlloc_v2");
    find(free, "cuMemFree_v2");
    find(toDevice, "cuMemcpyHtoD_v2");
    find(toHost, "cuMemcpyDtoH_v2");
    find(streamCreate, "cuStreamCreate");
    find(synchronize, "cuStreamSynchronize");
    find(beginCapture, "cuStreamBeginCapture_v2");
    find(endCapture, "cuStreamEndCapture");
    find(instantiate, "cuGraphInstantiateWithFlags");
    find(launchGraph, "cuGraphLaunch");
    int device = 0;
    return found && init(0) == 0 && deviceGet(&device, 0) == 0 &&
           retain(&context, device) == 0;
  }
};

float valueAt(size_t i) { return std::sin(0.37f * static_cast<float>(i)); }

/// One request: q, k, v, o and lse in f32, on the CPU or on the GPU.
class Request {
public:
  Request(int64_t queries, int64_t keys, const Cuda *cuda)
      : cuda(cuda), qShape{1, heads, queries, dim},
        kvShape{1, kvHeads, keys, dim}, lseShape{1, heads, queries} {
    size_t counts[] = {size_t(heads * queries * dim),
                       size_t(kvHeads * keys * dim),
                       size_t(kvHeads * keys * dim),
                       size_t(heads * queries * dim), size_t(heads * queries)};
    const int64_t *shapes[] = {qShape, kvShape, kvShape, qShape, lseShape};
    for (int t = 0; t < 5; ++t) {
      host[t].resize(counts[t]);
      for (size_t i = 0; t < 3 && i < counts[t]; ++i)
        host[t][i] = valueAt(i + t);
      DLTensor &tensor = tensors[t];
      tensor.data = host[t].data();
      tensor.device = {kDLCPU, 0};
      if (cuda) {
        cuda->alloc(&memory[t], counts[t] * sizeof(float));
        cuda->toDevice(memory[t], host[t].data(), counts[t] * sizeof(float));
        tensor.data = reinterpret_cast<void *>(memory[t]);
        tensor.device = {kDLCUDA, 0};
      }
      tensor.ndim = t < 4 ? 4 : 3;
      tensor.dtype = {kDLFloat, 32, 1};
      tensor.shape = const_cast<int64_t *>(shapes[t]);
      tensor.strides = nullptr;
      tensor.byte_offset = 0;
    }
  }
  Request(const Request &) = delete;
  ~Request() {
    for (int t = 0; cuda && t < 5; ++t)
      cuda->free(memory[t]);
  }

  void run(void *stream) {
    layers::local(tensors[0], tensors[1], tensors[2], 30.0f, tensors[3],
                  tensors[4], stream);
  }

  const std::vector<float> &result() {
    if (cuda)
      cuda->toHost(host[3].data(), memory[3], host[3].size() * sizeof(float));
    return host[3];
  }

private:
  const Cuda *cuda;
  int64_t qShape[4], kvShape[4], lseShape[3];
  std::vector<float> host[5];
  Cuda::Address memory[5] = {};
  DLTensor tensors[5];
};

double largestDifference(const std::vector<float> &a,
                         const std::vector<float> &b) {
  double worst = 0;
  for (size_t i = 0; i < a.size(); ++i)
    worst = std::fmax(worst, std::fabs(double(a[i]) - b[i]));
  return worst;
}

/// Requests of several threads; the largest difference from the same requests
/// one after the other on the CPU. An error of a thread is thrown here.
double serve(const Cuda *cuda) {
  std::vector<std::future<double>> workers;
  for (int worker = 0; worker < 4; ++worker)
    workers.push_back(std::async(std::launch::async, [=] {
      Cuda::Stream stream = nullptr;
      if (cuda) {
        cuda->setCurrent(cuda->context);
        cuda->streamCreate(&stream, 1 /* not blocking */);
      }
      double worst = 0;
      for (int64_t length : {64, 100 + worker, 257}) {
        Request request(length, length, cuda),
            expected(length, length, nullptr);
        expected.run(nullptr);
        request.run(stream);
        if (cuda)
          cuda->synchronize(stream);
        worst = std::fmax(
            worst, largestDifference(request.result(), expected.result()));
      }
      return worst;
    }));
  double worst = 0;
  for (std::future<double> &worker : workers)
    worst = std::fmax(worst, worker.get());
  return worst;
}

/// A decode step as a graph: launching takes the kernels' parameters from it.
double replayGraph(const Cuda &cuda) {
  cuda.setCurrent(cuda.context);
  Cuda::Stream stream = nullptr;
  Cuda::Graph graph = nullptr;
  Cuda::Executable executable = nullptr;
  cuda.streamCreate(&stream, 1);
  Request request(1, 2000, &cuda), expected(1, 2000, nullptr);
  expected.run(nullptr);
  if (cuda.beginCapture(stream, 0) != 0)
    return INFINITY;
  request.run(stream);
  if (cuda.endCapture(stream, &graph) != 0 ||
      cuda.instantiate(&executable, graph, 0) != 0)
    return INFINITY;
  for (int step = 0; step < 3; ++step)
    cuda.launchGraph(executable, stream);
  cuda.synchronize(stream);
  return largestDifference(request.result(), expected.result());
}

} // namespace

int main() {
  try {
    double worst = serve(nullptr);
    std::printf("CPU: 12 requests on 4 threads, largest difference %.1e\n",
                worst);
    Cuda cuda;
    if (!cuda.open()) {
      std::printf("GPU: none here, skipped\n");
      return worst == 0 ? 0 : 1;
    }
    double gpu = serve(&cuda), graph = replayGraph(cuda);
    std::printf(
        "GPU: 12 requests on 4 streams, largest difference from the CPU "
        "%.1e; graph %.1e\n",
        gpu, graph);
    return worst == 0 && gpu < 2e-3 && graph < 2e-3 ? 0 : 1;
  } catch (const qm::RuntimeError &error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
}
