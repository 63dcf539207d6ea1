//===- TempFolder.cpp - a folder that goes away ---------------------------===//
#include "qmc/TempFolder.h"
#include "qmc/Console.h"
#include "qmc/Interruption.h"

#include "llvm/ADT/SmallString.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Signals.h"

using namespace llvm;
using namespace qm;
using namespace qm::driver;

mlir::FailureOr<TempFolder> TempFolder::create() {
  SmallString<128> path;
  if (std::error_code error = sys::fs::createUniqueDirectory("qmc", path))
    return reportError(diag::Id::CannotWrite,
                       "cannot create a temporary folder: " + error.message(),
                       "", "set TMPDIR to a folder that can be written");
  removeFolderOnSignal(path);
  return TempFolder(path.str().str());
}

std::string TempFolder::file(StringRef name) const {
  SmallString<128> full(path);
  sys::path::append(full, name);
  sys::RemoveFileOnSignal(full);
  return full.str().str();
}

TempFolder::~TempFolder() {
  if (path.empty())
    return;
  sys::fs::remove_directories(path);
  keepFolderOnSignal(path);
}
