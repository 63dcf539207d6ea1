//===- Error.h - status and text of a failure -------------------*- C++ -*-===//
//
// Inside the runtime a function that can fail returns an int status, as the C
// ABI does, and leaves the text with the calling thread. Nothing is allocated.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "runtime/qm.h"

namespace qm::runtime {

/// Sets this thread's qm_last_error() to "QM0516: <text>" and returns `status`.
/// By convention the text is one sentence naming the object and both numbers,
/// then "\nhelp: " and one way out.
[[gnu::format(printf, 2, 3)]] int fail(qm_status status, const char *format,
                                       ...);

/// What qm_last_error() returns.
const char *lastError();

} // namespace qm::runtime
