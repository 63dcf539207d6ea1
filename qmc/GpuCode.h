//===- GpuCode.h - kernels compiled for an NVIDIA GPU -----------*- C++ -*-===//
#pragma once

#include "lowering/common/KernelInfo.h"
#include "lowering/ptx/PtxasReport.h"

#include <string>
#include <vector>

namespace qm::driver {

/// The texts are of all kernels of a module together.
struct GpuCode {
  std::string llvmIr, ptx;
  std::string cubin;       ///< empty unless it was asked for
  ptx::PtxasReport report; ///< empty unless there is a cubin
  std::vector<lowering::KernelInfo> kernels;
};

} // namespace qm::driver
