//===- Launch.h - a packed call on a GPU ------------------------*- C++ -*-===//
#pragma once

#include "runtime/PackArguments.h"

struct qm_kernel;

namespace qm::runtime::cuda {

/// Launches a call of at least one tile on a stream; asynchronous.
int launch(const qm_kernel &kernel, const PackedCall &call, void *stream);

/// Loads the kernel where a launch on this device with no stream would run it.
int prepare(const qm_kernel &kernel, int ordinal);

} // namespace qm::runtime::cuda
