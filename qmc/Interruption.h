//===- Interruption.h - what a signal may not leave behind ------*- C++ -*-===//
//
// Ctrl-C, a time limit or a crash ends the program without destructors. LLVM
// removes files that were named to sys::RemoveFileOnSignal; folders are
// remembered here.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "llvm/ADT/StringRef.h"

namespace qm::driver {

/// Cleans up on the signals that ask a program to end, which then end it as
/// they would have. A write past a file size limit becomes an error of that
/// write.
void installInterruption();

/// `path` is to be removed, once it is empty, if a signal ends the program.
/// Folders go in the reverse order.
void removeFolderOnSignal(llvm::StringRef path);
void keepFolderOnSignal(llvm::StringRef path);

/// Removes temporary files and folders; may be called by a signal handler.
void removeTemporaries();

} // namespace qm::driver
