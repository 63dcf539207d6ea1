//===- Target.h - which image runs on which GPU -----------------*- C++ -*-===//
#pragma once

#include "runtime/cuda/Driver.h"

#include <string_view>

struct qm_kernel;

namespace qm::runtime {
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

/// The variant that suits the device best (the order is qm_kernel_select's).
int selectVariant(const qm_kernel &kernel, const DeviceInfo &device,
                  const Variant *&variant);

} // namespace qm::runtime::cuda
