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

/// Beside this program if it is installed, else in the tree it was built from.
FrontEnd findFrontEnd() {
  std::string self = sys::fs::getMainExecutable(
      nullptr, reinterpret_cast<void *>(&compileSpec));
  SmallString<128> prefix(sys::path::parent_path(sys::path::parent_path(self)));
  SmallString<128> include(prefix), library(prefix);
  sys::path::append(include, QM_INSTALL_INCLUDEDIR);
  sys::path::append(library, QM_INSTALL_LIBDIR, "libqm_dsl.a");
  SmallString<128> header(include);
  sys::path::append(header, "qm", "attention.h");
  if (sys::fs::exists(header) && sys::fs::exists(library))
    return {include.str().str(), library.str().str()};
  return {QM_BUILD_DSL_INCLUDE, QM_BUILD_DSL_LIBRARY};
}

/// --cxx, QM_CXX, then what is on PATH.
FailureOr<std::string> findCompiler(const Options &options) {
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

} // namespace

LogicalResult qm::driver::compileSpec(const Options &options, StringRef source,
                                      StringRef output) {
  FailureOr<std::string> compiler = findCompiler(options);
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
  if (sys::path::filename(*compiler).starts_with("clang") &&
      sys::findProgramByName("ld.lld-22"))
    command.push_back("-fuse-ld=lld-22");
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
