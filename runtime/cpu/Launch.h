//===- Launch.h - a packed call on the CPU ----------------------*- C++ -*-===//
#pragma once

#include "runtime/PackArguments.h"

namespace qm::runtime {
struct Kernel;
struct Variant;
} // namespace qm::runtime

namespace qm::runtime::cpu {

/// The kernel's CPU variant of the highest level that runs here, or null.
const Variant *findVariant(const Kernel &kernel);
/// The same, or the status that says why there is none.
int selectVariant(const Kernel &kernel, const Variant *&variant);

/// Runs a call of at least one tile; returns when it is done.
int launch(const Kernel &kernel, const PackedCall &call, unsigned threads);

/// Opens the shared object, if the entry comes from one.
int prepare(const Kernel &kernel);

} // namespace qm::runtime::cpu
