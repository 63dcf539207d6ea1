//===- OutputFiles.cpp - all outputs or none ------------------------------===//
#include "qmc/OutputFiles.h"
#include "qmc/Console.h"

#include "llvm/ADT/SmallString.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"

using namespace llvm;
using namespace qm;
using namespace qm::driver;

static LogicalResult cannotWrite(StringRef path, const Twine &why) {
  return reportError(diag::Id::CannotWrite,
                     "cannot write '" + path + "': " + why, path,
                     "choose another place with -o");
}

LogicalResult OutputFiles::add(StringRef path, StringRef bytes) {
  if (sys::fs::is_directory(path))
    return cannotWrite(path, "it is a folder");
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
    madeFolders.push_back(folder);
  }

  int file;
  SmallString<128> temporary;
  if (std::error_code error = sys::fs::createUniqueFile(
          path + ".%%%%%%.tmp", file, temporary, sys::fs::OF_None,
          sys::fs::all_read | sys::fs::owner_write))
    return cannotWrite(path, error.message());
  pending.push_back({temporary.str().str(), path.str()});
  raw_fd_ostream os(file, /*shouldClose=*/true);
  os << bytes;
  os.close();
  if (std::error_code error = os.error()) {
    os.clear_error();
    return cannotWrite(path, error.message());
  }
  return success();
}

LogicalResult OutputFiles::commit() {
  for (const Pending &file : pending)
    if (std::error_code error = sys::fs::rename(file.temporary, file.path))
      return cannotWrite(file.path, error.message());
  pending.clear();
  madeFolders.clear();
  return success();
}

OutputFiles::~OutputFiles() {
  for (const Pending &file : pending)
    sys::fs::remove(file.temporary);
  for (const std::string &folder : reverse(madeFolders))
    sys::fs::remove(folder);
}
