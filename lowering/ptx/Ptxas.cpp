// Finds and runs ptxas.
#include "lowering/ptx/Ptxas.h"

#include "dialect/Diagnostics.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FileUtilities.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Process.h"
#include "llvm/Support/Program.h"
#include "llvm/Support/Signals.h"
#include "llvm/Support/VersionTuple.h"

#include <chrono>

using namespace mlir;
using namespace qm;
using namespace qm::ptx;
namespace fs = llvm::sys::fs;
namespace path = llvm::sys::path;
using diag::Id;

/// `where` itself if it is a program, or the ptxas in the folder `where`; else
/// empty.
static std::string programAt(const std::string &where) {
  if (fs::can_execute(where) && !fs::is_directory(where))
    return where;
  llvm::SmallString<128> inFolder(where);
  path::append(inFolder, "ptxas");
  return fs::can_execute(inFolder) ? std::string(inFolder) : std::string();
}

/// Folders /usr/local/cuda-*/bin, the highest version first.
static std::vector<std::string> versionedToolkits() {
  std::vector<std::pair<llvm::VersionTuple, std::string>> found;
  std::error_code error;
  for (fs::directory_iterator it("/usr/local", error), end; it != end && !error;
       it.increment(error)) {
    StringRef name = path::filename(it->path());
    llvm::VersionTuple version;
    if (name.consume_front("cuda-") && !version.tryParse(name))
      found.emplace_back(version, it->path() + "/bin");
  }
  llvm::sort(found,
             [](const auto &a, const auto &b) { return b.first < a.first; });
  std::vector<std::string> folders;
  for (auto &[version, folder] : found)
    folders.push_back(folder);
  return folders;
}

std::string qm::ptx::findPtxas(StringRef explicitPath,
                               std::vector<std::string> *searched) {
  auto tryPath = [&](const std::string &where, StringRef label) {
    std::string program = programAt(where);
    if (program.empty() && searched)
      searched->push_back(label.empty() ? where
                                        : (label + " (" + where + ")").str());
    return program;
  };
  // What the user names is the answer; it is never replaced by another ptxas.
  if (!explicitPath.empty())
    return tryPath(explicitPath.str(), "--ptxas");
  if (auto named = llvm::sys::Process::GetEnv("QM_PTXAS"))
    return tryPath(*named, "QM_PTXAS");
  if (auto onPath = llvm::sys::findProgramByName("ptxas"))
    return *onPath;
  if (searched)
    searched->push_back("PATH");
  for (const char *variable : {"CUDA_HOME", "CUDA_PATH"})
    if (auto home = llvm::sys::Process::GetEnv(variable))
      if (std::string program = tryPath(*home + "/bin", variable);
          !program.empty())
        return program;
  if (std::string program = tryPath("/usr/local/cuda/bin", "");
      !program.empty())
    return program;
  for (const std::string &folder : versionedToolkits())
    if (std::string program = tryPath(folder, ""); !program.empty())
      return program;
  return {};
}

/// llvm::writeToOutput would end the program where the disk is full.
static std::error_code write(int file, StringRef bytes) {
  llvm::raw_fd_ostream stream(file, /*shouldClose=*/true);
  stream << bytes;
  stream.close();
  std::error_code error = stream.error();
  stream.clear_error();
  return error;
}

namespace {
/// A temporary file that goes when this does, or when a signal ends the
/// program.
struct TemporaryFile {
  llvm::SmallString<128> name;
  std::error_code error;
  std::optional<llvm::FileRemover> remover;

  explicit TemporaryFile(StringRef suffix, StringRef bytes = "") {
    int file;
    error = fs::createTemporaryFile("qm", suffix, file, name);
    if (error)
      return;
    remover.emplace(name);
    llvm::sys::RemoveFileOnSignal(name);
    error = write(file, bytes);
  }
  ~TemporaryFile() {
    remover.reset();
    llvm::sys::DontRemoveFileOnSignal(name);
  }
  std::string read() const {
    auto buffer = llvm::MemoryBuffer::getFile(name);
    return buffer ? (*buffer)->getBuffer().str() : std::string();
  }
};
} // namespace

FailureOr<Assembled>
qm::ptx::assemble(StringRef ptx, const PtxasOptions &options, Location loc) {
  std::vector<std::string> searched;
  std::string program = findPtxas(options.path, &searched);
  if (program.empty())
    return diag::help(diag::error(loc, Id::PtxasNotFound)
                          << "ptxas was not found; looked at "
                          << llvm::join(searched, ", "),
                      "name it with --ptxas=PATH or QM_PTXAS, or emit PTX "
                      "(--emit=ptx), which "
                      "needs no ptxas");

  TemporaryFile input("ptx", ptx), output("cubin"), messages("txt");
  for (const TemporaryFile *file : {&input, &output, &messages})
    if (file->error)
      return diag::help(diag::error(loc, Id::PtxasFailed)
                            << "cannot write a temporary file: "
                            << file->error.message(),
                        "set TMPDIR to a folder that can be written and has "
                        "room");

  std::string arch = "-arch=" + options.target;
  llvm::SmallVector<StringRef> arguments{program, arch, "-v"};
  llvm::append_range(arguments, options.flags);
  llvm::append_range(
      arguments, llvm::SmallVector<StringRef>{input.name, "-o", output.name});
  std::optional<StringRef> redirects[] = {
      std::nullopt, StringRef(messages.name), StringRef(messages.name)};
  std::string launchError;
  auto start = std::chrono::steady_clock::now();
  int status = llvm::sys::ExecuteAndWait(program, arguments, std::nullopt,
                                         redirects, /*SecondsToWait=*/0,
                                         /*MemoryLimit=*/0, &launchError);
  std::chrono::duration<double> seconds =
      std::chrono::steady_clock::now() - start;
  std::string text = messages.read();
  if (status != 0)
    return diag::help(
        diag::error(loc, Id::PtxasFailed)
            << program << " for " << options.target << " failed"
            << (launchError.empty() ? "" : ": " + launchError) << "\n"
            << StringRef(text).trim(),
        "if ptxas is older than the target, use a newer CUDA toolkit; else "
        "please report this with the PTX (--save-temps)");
  Assembled assembled{output.read(), parsePtxasReport(text)};
  if (!StringRef(assembled.cubin).starts_with("\177ELF"))
    return diag::help(diag::error(loc, Id::PtxasFailed)
                          << program << " for " << options.target
                          << " ended well and wrote no cubin",
                      "name NVIDIA's ptxas with --ptxas=PATH or QM_PTXAS");
  assembled.report.seconds = seconds.count();
  return assembled;
}

llvm::Error qm::ptx::writeAtomically(StringRef path, StringRef bytes) {
  int file;
  llvm::SmallString<128> temporary;
  if (std::error_code error =
          fs::createUniqueFile(path + ".%%%%%%.tmp", file, temporary,
                               fs::OF_None, fs::all_read | fs::owner_write))
    return llvm::errorCodeToError(error);
  llvm::sys::RemoveFileOnSignal(temporary);
  std::error_code error = write(file, bytes);
  if (!error)
    error = fs::rename(temporary, path);
  if (error)
    fs::remove(temporary);
  llvm::sys::DontRemoveFileOnSignal(temporary);
  return llvm::errorCodeToError(error);
}
