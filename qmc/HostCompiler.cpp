//===- HostCompiler.cpp - a .cpp spec becomes a shared object -------------===//
#include "qmc/HostCompiler.h"
#include "qmc/Console.h"

#include "llvm/ADT/SmallString.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Program.h"

using namespace llvm;
using namespace mlir;
using namespace qm;
using namespace qm::driver;

namespace {

struct FrontEnd {
  std::string includeFolder, library;
};

/// The folder that this program is installed in, with `path` below it.
std::string installed(ArrayRef<StringRef> path) {
  std::string self = sys::fs::getMainExecutable(
      nullptr, reinterpret_cast<void *>(&compileSpec));
  SmallString<128> result(sys::path::parent_path(sys::path::parent_path(self)));
  for (StringRef part : path)
    sys::path::append(result, part);
  return result.str().str();
}

/// Beside this program if it is installed, else in the tree it was built from.
FrontEnd findFrontEnd() {
  std::string include = installed({QM_INSTALL_INCLUDEDIR});
  std::string library = installed({QM_INSTALL_LIBDIR, "libqm_dsl.a"});
  if (sys::fs::exists(include + "/qm/attention.h") && sys::fs::exists(library))
    return {include, library};
  return {QM_BUILD_DSL_INCLUDE, QM_BUILD_DSL_LIBRARY};
}

/// "path size time" of a file.
std::string stamp(StringRef path) {
  sys::fs::file_status status;
  if (sys::fs::status(path, status))
    return path.str();
  return (path + " " + Twine(status.getSize()) + " " +
          Twine(status.getLastModificationTime().time_since_epoch().count()))
      .str();
}

} // namespace

FailureOr<std::string> qm::driver::findHostCompiler(const Options &options) {
  std::string named = options.cxx;
  if (const char *variable = std::getenv("QM_CXX"); named.empty() && variable)
    named = variable;
  if (!named.empty()) {
    ErrorOr<std::string> found = sys::findProgramByName(named);
    if (found && sys::fs::can_execute(*found))
      return *found;
    return reportError(diag::Id::HostCompilerMissing,
                       "host compiler '" + named + "' not found", named,
                       "name a C++20 compiler with --cxx or QM_CXX");
  }
  for (StringRef name : {"clang++-22", "clang++", "c++"})
    if (ErrorOr<std::string> found = sys::findProgramByName(name))
      return *found;
  return reportError(diag::Id::HostCompilerMissing,
                     "no host compiler (clang++-22, clang++ or c++) on PATH",
                     options.input,
                     "name a C++20 compiler with --cxx or QM_CXX");
}

std::string qm::driver::hostCompilerIdentity(const Options &options) {
  FrontEnd frontEnd = findFrontEnd();
  std::string identity = stamp(frontEnd.library) + frontEnd.includeFolder;
  std::string named = options.cxx;
  if (const char *variable = std::getenv("QM_CXX"); named.empty() && variable)
    named = variable;
  for (StringRef name : {StringRef(named), StringRef("clang++-22"),
                         StringRef("clang++"), StringRef("c++")})
    if (ErrorOr<std::string> found = sys::findProgramByName(name))
      return identity + stamp(*found);
  return identity;
}

void qm::driver::addLinker(SmallVectorImpl<std::string> &command) {
  if (sys::path::filename(command.front()).starts_with("clang") &&
      sys::findProgramByName("ld.lld-22"))
    command.push_back("-fuse-ld=lld-22");
}

FailureOr<RuntimeLibraries> qm::driver::findRuntimeLibraries() {
  std::string runtime = installed({QM_INSTALL_LIBDIR, "libqm_runtime.a"});
  if (!sys::fs::exists(runtime))
    runtime = QM_BUILD_RUNTIME_LIBRARY;
  if (!sys::fs::exists(runtime))
    return reportError(diag::Id::CannotRead,
                       "the runtime library '" + runtime + "' is missing", "",
                       "install qmc with its libraries (cmake --install)");
  return RuntimeLibraries{runtime, QM_ZSTD_LIBRARY};
}

LogicalResult qm::driver::compileSpec(const Options &options, StringRef source,
                                      StringRef output, StringRef depfile) {
  FailureOr<std::string> compiler = findHostCompiler(options);
  if (failed(compiler))
    return failure();
  FrontEnd frontEnd = findFrontEnd();
  // Tracing runs once: time spent optimising would never come back.
  SmallVector<std::string> command = {*compiler,
                                      "-std=c++20",
                                      "-O0",
                                      "-fPIC",
                                      "-shared",
                                      "-fvisibility=hidden",
                                      "-I" + frontEnd.includeFolder};
  for (const std::string &folder : options.includes)
    command.push_back("-I" + folder);
  addLinker(command);
  if (!depfile.empty())
    command.append({"-MD", "-MF", depfile.str()});
  command.append({source.str(), "-o", output.str(), "-Wl,--whole-archive",
                  frontEnd.library, "-Wl,--no-whole-archive"});
  reportProgress(join(command, " "));

  SmallVector<StringRef> arguments(command.begin(), command.end());
  std::string message;
  int status =
      sys::ExecuteAndWait(*compiler, arguments, std::nullopt, {},
                          /*SecondsToWait=*/0, /*MemoryLimit=*/0, &message);
  if (status == 0)
    return success();
  return reportError(
      diag::Id::HostCompilerFailed,
      "the host compiler rejected '" + source + "'" +
          (message.empty() ? "" : ": " + message),
      source, "correct the errors shown above; `qmc explain QM0005` says more");
}
