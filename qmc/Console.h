//===- Console.h - messages that point at no source line --------*- C++ -*-===//
//
// What MLIR's source manager does for a .cpp or .mlir, done for the command
// line: code, the line with a caret, one way out. Everything goes to stderr.
// Any thread may print.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "dialect/DiagnosticIds.h"

#include "mlir/Support/LLVM.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/Twine.h"

#include <string>

namespace qm::driver {

/// Remembers the command line for messages, and turns colour off if NO_COLOR
/// is set or the stream is no terminal.
void initConsole(int argc, char **argv);

/// The command line as one would type it.
std::string commandLine();

/// Prints an error; returns failure. `argument` is a part of the command line
/// to point at ("" for none), `help` the way out ("" for none).
llvm::LogicalResult reportError(diag::Id id, const llvm::Twine &message,
                                llvm::StringRef argument = "",
                                const llvm::Twine &help = "");

/// Prints a warning with its code and the way out.
void reportWarning(diag::Id id, const llvm::Twine &message,
                   const llvm::Twine &help);

/// Prints a note ("note: ...").
void reportNote(const llvm::Twine &message);

/// Shows how far long work is in a line that the next message replaces; nothing
/// where stderr is no terminal. An empty text removes it.
void setStatus(const llvm::Twine &text);

/// Prints progress if -v is given.
void setVerbose(bool verbose);
void reportProgress(const llvm::Twine &message);

} // namespace qm::driver
