//===- Launch.h - a packed call on a GPU ------------------------*- C++ -*-===//
#pragma once

#include "runtime/PackArguments.h"

namespace qm::runtime {
struct Kernel;
} // namespace qm::runtime

namespace qm::runtime::cuda {

/// Launches a call of at least one tile on a stream; asynchronous.
int launch(const Kernel &kernel, const PackedCall &call, void *stream);

/// Loads the kernel where a launch on this device with no stream would run it.
int prepare(const Kernel &kernel, int ordinal);

} // namespace qm::runtime::cuda
