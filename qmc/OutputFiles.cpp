//===- OutputFiles.cpp - all outputs or none ------------------------------===//
#include "qmc/OutputFiles.h"
#include "qmc/Console.h"
#include "qmc/Interruption.h"

#include "llvm/ADT/SmallString.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Signals.h"
#include "llvm/Support/raw_ostream.h"

using namespace llvm;
using namespace qm;
using namespace qm::driver;

static LogicalResult cannotWrite(StringRef path, const Twine &why) {
  return reportError(diag::Id::CannotWrite,
                     "cannot write '" + path + "': " + why, path,
                     "choose another place with -o");
}

/// Writes all of `bytes` and closes the file.
static std::error_code write(int file, StringRef bytes) {
  raw_fd_ostream os(file, /*shouldClose=*/true);
  os << bytes;
  os.close();
  std::error_code error = os.error();
  os.clear_error();
  return error;
}

LogicalResult OutputFiles::add(StringRef path, StringRef bytes) {
  sys::fs::file_status status;
  if (!sys::fs::status(path, status)) {
    if (sys::fs::is_directory(status))
      return cannotWrite(path, "it is a folder");
    // A rename would get round it.
    if (!sys::fs::can_write(path))
      return cannotWrite(path, "it is write-protected");
    if (!sys::fs::is_regular_file(status)) {
      pending.push_back({"", path.str(), bytes.str()});
      return success();
    }
  }
  // Outermost first, so that they can be removed again innermost first.
  SmallVector<std::string> missing;
  for (StringRef folder = sys::path::parent_path(path);
       !folder.empty() && !sys::fs::exists(folder);
       folder = sys::path::parent_path(folder))
    missing.push_back(folder.str());
  for (const std::string &folder : reverse(missing)) {
    if (std::error_code error = sys::fs::create_directory(
            folder, /*IgnoreExisting=*/true, sys::fs::perms::all_all))
      return cannotWrite(path, error.message());
    removeFolderOnSignal(folder);
    madeFolders.push_back(folder);
  }

  int file;
  SmallString<128> temporary;
  if (std::error_code error = sys::fs::createUniqueFile(
          path + ".%%%%%%.tmp", file, temporary, sys::fs::OF_None,
          sys::fs::all_read | sys::fs::owner_write))
    return cannotWrite(path, error.message());
  sys::RemoveFileOnSignal(temporary);
  pending.push_back({temporary.str().str(), path.str(), ""});
  if (std::error_code error = write(file, bytes))
    return cannotWrite(path, error.message());
  return success();
}

LogicalResult OutputFiles::commit() {
  for (const Pending &file : pending) {
    int device;
    std::error_code error;
    if (!file.temporary.empty())
      error = sys::fs::rename(file.temporary, file.path);
    else if (!(error = sys::fs::openFileForWrite(file.path, device,
                                                 sys::fs::CD_OpenExisting)))
      error = write(device, file.bytes);
    if (error)
      return cannotWrite(file.path, error.message());
  }
  forget();
  return success();
}

void OutputFiles::forget() {
  for (const Pending &file : pending)
    if (!file.temporary.empty())
      sys::DontRemoveFileOnSignal(file.temporary);
  for (const std::string &folder : madeFolders)
    keepFolderOnSignal(folder);
  pending.clear();
  madeFolders.clear();
}

OutputFiles::~OutputFiles() {
  for (const Pending &file : pending)
    if (!file.temporary.empty())
      sys::fs::remove(file.temporary);
  for (const std::string &folder : reverse(madeFolders))
    sys::fs::remove(folder);
  forget();
}
