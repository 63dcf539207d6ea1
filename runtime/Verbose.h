//===- Verbose.h - QM_VERBOSE: what the runtime chooses, and why -*- C++ -*-==//
#pragma once

#include "runtime/Library.h"

namespace qm::runtime {

/// Whether QM_VERBOSE asks for anything. Read once a process.
bool isVerbose();

/// Whether the choice of a variant on a device is to be told: always at level
/// 2, else the first time.
bool isNews(const Variant &variant, DLDevice device);

/// Prints a line (or more) to stderr, "qm: ...", in one piece.
[[gnu::format(printf, 1, 2)]] void say(const char *format, ...);

} // namespace qm::runtime
