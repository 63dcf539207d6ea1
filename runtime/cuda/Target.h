//===- Target.h - which image runs on which GPU -----------------*- C++ -*-===//
#pragma once

#include "runtime/cuda/Driver.h"

#include <string_view>

namespace qm::runtime {
struct Kernel;
struct Variant;
} // namespace qm::runtime

namespace qm::runtime::cuda {

/// "sm_90a" as {9, 0, 'a'}. Suffix 'a': runs on exactly this GPU; 'f': on this
/// and later GPUs of the major version; 0: no suffix.
struct Target {
  int major = 0, minor = 0;
  char suffix = 0;
};
bool parseTarget(std::string_view text, Target &target);

/// The variant that suits the device best (the order is qm_kernel_select's), or
/// null.
const Variant *findVariant(const Kernel &kernel, const DeviceInfo &device);
/// The same, or the status that says why there is none.
int selectVariant(const Kernel &kernel, const DeviceInfo &device,
                  const Variant *&variant);

} // namespace qm::runtime::cuda
