//===- CrashReport.h - what is left when the compiler fails -----*- C++ -*-===//
//
// A crash, an abort or an LLVM fatal error is a bug of the compiler, never of
// the input: qmc says so, writes a reproducer and exits with status 2. Only
// where code of the user runs in this process, it is the user's.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "llvm/ADT/Twine.h"

#include <string>

namespace qm::driver {

/// Installs the handlers. `commandLine` goes into the reproducer.
void installCrashReport(std::string commandLine);

/// The program that was being compiled, as MLIR text.
void setCrashInput(std::string text);

/// As long as it lives a crash is that of code from the input: `what` says of
/// which.
class UserCode {
public:
  explicit UserCode(const llvm::Twine &what);
  ~UserCode();
  UserCode(const UserCode &) = delete;
};

/// Writes the reproducer, prints the message and exits with status 2.
[[noreturn]] void reportInternalError(const char *what);

} // namespace qm::driver
