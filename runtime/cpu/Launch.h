//===- Launch.h - a packed call on the CPU ----------------------*- C++ -*-===//
#pragma once

#include "runtime/PackArguments.h"

struct qm_kernel;

namespace qm::runtime {
struct Variant;
} // namespace qm::runtime

namespace qm::runtime::cpu {

/// The kernel's CPU variant.
int selectVariant(const qm_kernel &kernel, const Variant *&variant);

/// Runs a call of at least one tile; returns when it is done.
int launch(const qm_kernel &kernel, const PackedCall &call, unsigned threads);

/// Opens the shared object, if the entry comes from one.
int prepare(const qm_kernel &kernel);

} // namespace qm::runtime::cpu
