//===- Probe.h - a small kernel and its tensors, for the runtime's tests --===//
//
// The kernel "probe" has every sort of argument: q, k, v, a captured buffer, an
// i32 and an f32 scalar, o and lse; f32, Hq = 4, Hkv = 2, D = Dv = 8, tiles of
// 4 queries. Its CPU code makes results that depend on every slot it should:
//   o[b,h,i,d] = q[b,h,i,d] + window * k[b,h/2,0,d] + v[b,h/2,Skv-1,d]
//   lse[b,h,i] = cap + bias[extent - 1]
//
//===----------------------------------------------------------------------===//
#pragma once

#include "runtime/qm.h"

#include <cstdint>
#include <string>
#include <vector>

namespace probe {

constexpr int64_t slots = 48, tileM = 4, headDim = 8;

/// One entry of a manifest. `fields` are more fields, or later ones of the same
/// name: the last wins.
std::string entry(const std::string &target, const std::string &image,
                  const std::string &fields = "");
std::string manifest(const std::vector<std::string> &entries);

/// PTX and cubin that pass for such, and are for nobody to run.
std::string ptx(const std::string &target = "sm_80");
std::string cubin();

/// The CPU code.
void run(const int64_t *slots, int64_t tileBegin, int64_t tileEnd);

/// A library with the CPU code alone; destroy it.
qm_library *cpuLibrary();
/// A library with one GPU image for each target; "sm_80:ptx" or "sm_80:cubin".
qm_library *gpuLibrary(const std::vector<std::string> &images,
                       const std::string &fields = "");
const qm_kernel *kernelOf(const qm_library *library);

/// A tensor that owns its data, with strides in elements.
struct Tensor {
  std::vector<int64_t> shape, strides;
  std::vector<float> data; ///< aligned to 16 bytes or better by malloc
  DLTensor dl = {};

  Tensor(std::vector<int64_t> shape, DLDevice device);
  Tensor(const Tensor &) = delete;
  Tensor &operator=(const Tensor &) = delete;
};

/// All arguments of a valid call, to be damaged by a test.
struct Arguments {
  Tensor q, k, v, bias, o, lse;
  int32_t window = 3;
  float cap = 0.5f;

  explicit Arguments(DLDevice device = {kDLCPU, 0}, int64_t batch = 2,
                     int64_t queries = 6, int64_t keys = 5);
  std::vector<qm_value> values() const;
  /// Whether o and lse hold what probe::run should have made of the inputs.
  bool outputsAreRight() const;
  /// Whether nothing was written to o and lse.
  bool outputsAreUntouched() const;
};

} // namespace probe
