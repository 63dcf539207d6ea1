//===- Link.cpp - objects to a static and a shared library ----------------===//
#include "qmc/library/Link.h"
#include "qmc/Console.h"
#include "qmc/HostCompiler.h"
#include "qmc/TempFolder.h"

#include "lowering/ptx/Ptxas.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Object/ArchiveWriter.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Program.h"

#include <set>

using namespace llvm;
using namespace qm;
using namespace qm::driver;

mlir::FailureOr<std::string>
qm::driver::makeArchive(const LibraryContents &library, StringRef object) {
  std::vector<std::string> names = {library.name + ".o"};
  std::vector<StringRef> contents = {object};
  std::set<std::string> symbols; // a kernel may be there under two names
  for (const std::unique_ptr<KernelJob> &job : library.jobs) {
    const CompiledKernel &kernel = job->result;
    if (kernel.symbol.empty() || !symbols.insert(kernel.symbol).second)
      continue;
    names.push_back(kernel.symbol + ".o");
    contents.push_back(kernel.object);
  }
  std::vector<NewArchiveMember> members;
  for (auto [name, bytes] : zip_equal(names, contents))
    members.emplace_back(MemoryBufferRef(bytes, name));
  Expected<std::unique_ptr<MemoryBuffer>> archive = writeArchiveToBuffer(
      members, SymtabWritingMode::NormalSymtab, object::Archive::K_GNU,
      /*Deterministic=*/true, /*Thin=*/false);
  if (archive)
    return (*archive)->getBuffer().str();
  return reportError(diag::Id::CannotWrite,
                     "the static library cannot be made: " +
                         toString(archive.takeError()));
}

/// What the shared library shows: the C API and the functions of NAME.h.
static std::string versionScript(const LibraryContents &library) {
  return "QIMENG_" QM_VERSION " {\n  global: qm_*; " + library.name +
         "_*;\n  local: *;\n};\n";
}

mlir::FailureOr<std::string>
qm::driver::linkShared(const Options &options, const LibraryContents &library,
                       StringRef archive) {
  mlir::FailureOr<std::string> compiler = findHostCompiler(options);
  mlir::FailureOr<RuntimeLibraries> runtime = findRuntimeLibraries();
  mlir::FailureOr<TempFolder> folder = TempFolder::create();
  if (failed(compiler) || failed(runtime) || failed(folder))
    return failure();
  std::string input = folder->file("library.a");
  std::string script = folder->file("exports.map");
  std::string output = folder->file("library.so");
  for (auto [path, bytes] :
       {std::pair(input, archive.str()), {script, versionScript(library)}})
    if (Error error = ptx::writeAtomically(path, bytes))
      return reportError(diag::Id::CannotWrite,
                         "cannot write '" + path +
                             "': " + toString(std::move(error)));
  SmallVector<std::string> command = {*compiler, "-shared", "-fPIC"};
  addLinker(command);
  command.append(
      {"-o", output, "-Wl,-soname,lib" + library.name + ".so",
       "-Wl,--version-script=" + script, "-Wl,--gc-sections", "-Wl,-s",
       "-Wl,--defsym=qm_embedded_library=" + library.name + "_embedded",
       "-Wl,--whole-archive", input, runtime->runtime, "-Wl,--no-whole-archive",
       runtime->zstd, "-lpthread", "-ldl", "-lm"});
  reportProgress(join(command, " "));
  SmallVector<StringRef> arguments(command.begin(), command.end());
  std::string message;
  if (sys::ExecuteAndWait(*compiler, arguments, std::nullopt, {}, 0, 0,
                          &message) != 0)
    return reportError(diag::Id::LinkFailed,
                       "'" + *compiler + "' cannot link lib" + library.name +
                           ".so" + (message.empty() ? "" : ": " + message),
                       "",
                       "its messages are above; --emit=archive needs no "
                       "linker");
  auto linked = MemoryBuffer::getFile(output);
  if (!linked)
    return reportError(diag::Id::CannotRead,
                       "the linker left no '" + output +
                           "': " + linked.getError().message());
  return (*linked)->getBuffer().str();
}
