//===- CrashReport.h - what is left when the compiler fails -----*- C++ -*-===//
//
// A crash, an abort or an LLVM fatal error is a bug of the compiler, never of
// the input: qmc says so, writes a reproducer and exits with status 2.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "llvm/ADT/StringRef.h"

#include <string>

namespace qm::driver {

/// Installs the handlers. `commandLine` goes into the reproducer.
void installCrashReport(std::string commandLine);

/// The program that was being compiled, as MLIR text.
void setCrashInput(std::string text);

/// Writes the reproducer, prints the message and exits with status 2.
[[noreturn]] void reportInternalError(const char *what);

} // namespace qm::driver
