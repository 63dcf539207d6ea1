//===- JobPool.h - independent jobs on several threads ----------*- C++ -*-===//
#pragma once

#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/StringRef.h"

#include <cstddef>
#include <string>

namespace qm::driver {

/// Runs `job(0)` ... `job(count - 1)` on `threads` threads (0: one a core),
/// taken in order. On a terminal a line tells how far it is, with what
/// `describe` says of the job that was last begun. Exceptions of a job come
/// out here, once the others have ended.
void runJobs(size_t count, unsigned threads,
             llvm::function_ref<std::string(size_t)> describe,
             llvm::function_ref<void(size_t)> job);

} // namespace qm::driver
