//===- Explanation.h - what to expect of a kernel on a target ---*- C++ -*-===//
#pragma once

#include "lowering/common/KernelInfo.h"
#include "lowering/common/TargetInfo.h"
#include "lowering/ptx/PtxasReport.h"
#include "lowering/reference/Reference.h"
#include "passes/LengthVariants.h"

#include "llvm/Support/JSON.h"

#include <optional>
#include <string>
#include <vector>

namespace qm::driver {

/// Where a multiprocessor's room goes.
struct Occupancy {
  int64_t registers = 0; ///< a thread
  int64_t sharedBytes = 0;
  int64_t ctas = 0;    ///< resident on a multiprocessor
  double fraction = 0; ///< of the warps it can hold
  std::string limit;   ///< registers, shared memory, threads or CTAs
};

/// Work and traffic of one call.
struct Work {
  double usefulFlops = 0;              ///< of the kept pairs
  double runFlops = 0;                 ///< of all blocks that are not skipped
  double bytes = 0;                    ///< each tensor once
  double peakFlops = 0, peakBytes = 0; ///< a second; 0: not known
  double computeSeconds() const {
    return peakFlops ? usefulFlops / peakFlops : 0;
  }
  double memorySeconds() const { return peakBytes ? bytes / peakBytes : 0; }
  double rooflineSeconds() const {
    return std::max(computeSeconds(), memorySeconds());
  }
};

struct Explanation {
  lowering::KernelInfo kernel;
  const lowering::TargetInfo *target = nullptr;
  reference::Extents extents;
  int64_t headDim = 0, valueDim = 0;
  reference::MaskCounts counts; ///< in blocks of the schedule's tile
  /// The same for head 0 of the first sequence; none without a mask.
  std::optional<reference::BlockMap> map;
  std::vector<std::string> reasons; ///< of the schedule, one a line
  /// Kernels for long calls that a library has beside this one.
  std::vector<passes::LengthVariant> lengthVariants;
  std::optional<Occupancy> planned, measured; ///< GPUs only
  std::optional<ptx::KernelResources> resources;
  Work work;
  std::string peakNote; ///< what the peak assumes

  /// All pairs, and how many of them are kept.
  double pairs() const;
  /// Of these the one that a library takes for this call; null: this kernel.
  const passes::LengthVariant *variantForCall() const;
  double density() const { return pairs() ? counts.keptPairs / pairs() : 0; }
  void print(llvm::raw_ostream &os) const;
  llvm::json::Object toJson() const;
};

/// Resident CTAs for what a CTA needs, by the rules of the CUDA occupancy
/// calculator: registers in units of 8 a thread, 1 KiB of shared memory for the
/// system a CTA.
Occupancy computeOccupancy(const lowering::TargetInfo &target, int64_t threads,
                           int64_t registers, int64_t sharedBytes);

/// Floating-point peak of this machine's CPU with `threads` threads at the
/// clock that the kernel reports, two fused multiply-adds a cycle.
double hostPeakFlops(const lowering::TargetInfo &target, unsigned threads,
                     std::string &note);

} // namespace qm::driver
