//===- ContextScope.h - the right context for a launch ----------*- C++ -*-===//
//
// A launch runs in the current context if that is on the call's device; else in
// the stream's context; else in the device's primary context, the one the CUDA
// runtime (and so PyTorch) uses. The current context is put back afterwards.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "runtime/cuda/Driver.h"

namespace qm::runtime::cuda {

class ContextScope {
public:
  explicit ContextScope(const Driver &driver) : driver(driver) {}
  ContextScope(const ContextScope &) = delete;
  ContextScope &operator=(const ContextScope &) = delete;
  ~ContextScope();

  /// Makes the context current. Fails, with no context changed, where the
  /// stream belongs to another device or to another context than the current.
  int enter(const DeviceInfo &device, Stream stream);

  Context context() const { return active; }

private:
  int push(Context context);

  const Driver &driver;
  Context active = nullptr;
  bool pushed = false;
};

} // namespace qm::runtime::cuda
