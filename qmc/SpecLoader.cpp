//===- SpecLoader.cpp - the input as a module -----------------------------===//
#include "qmc/SpecLoader.h"
#include "qmc/Console.h"
#include "qmc/CrashReport.h"
#include "qmc/HostCompiler.h"
#include "qmc/NearestName.h"
#include "qmc/SpecLibrary.h"
#include "qmc/TempFolder.h"

#include "dialect/AttnOps.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Parser/Parser.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"

#include <cerrno>
#include <cstring>
#include <unistd.h>
#include <utility>

using namespace mlir;
using namespace qm;
using namespace qm::driver;

namespace {

LogicalResult cannotRead(const Options &options, const Twine &why) {
  return reportError(diag::Id::CannotRead,
                     "cannot read '" + options.input + "': " + why,
                     options.input, "name a .cpp spec or a .mlir file");
}

LogicalResult checkReadable(const Options &options) {
  if (options.input == "-")
    return success();
  if (llvm::sys::fs::is_directory(options.input))
    return cannotRead(options, "it is a folder");
  if (::access(options.input.c_str(), R_OK) != 0)
    return cannotRead(options, std::strerror(errno));
  return success();
}

/// Parses `text`. The copy in the session's source manager is what its handler
/// finds, by name, when it prints a line of it.
OwningOpRef<ModuleOp> parse(Session &session, StringRef text, StringRef name) {
  session.sources.AddNewSourceBuffer(
      llvm::MemoryBuffer::getMemBufferCopy(text, name), llvm::SMLoc());
  return parseSourceString<ModuleOp>(text, ParserConfig(&session.context),
                                     name);
}

/// The specs of a module: its functions and kernels.
SmallVector<Operation *> specsOf(ModuleOp module) {
  SmallVector<Operation *> specs;
  for (Operation &op : *module.getBody())
    if (isa<func::FuncOp, attn::KernelOp>(op))
      specs.push_back(&op);
  return specs;
}

std::string nameOf(Operation *spec) {
  return SymbolTable::getSymbolName(spec).str();
}

LogicalResult unknownSpec(const Options &options, ArrayRef<std::string> names) {
  std::string nearest = nearestName(options.spec, names);
  return reportError(diag::Id::UnknownSpec,
                     "'" + options.input + "' has no spec '" + options.spec +
                         "'; it has " + llvm::join(names, ", "),
                     options.spec,
                     nearest.empty() ? "`--list-specs` lists them"
                                     : "did you mean '" + nearest + "'?");
}

LogicalResult noSpec(const Options &options) {
  return reportError(diag::Id::NoSpec, "'" + options.input + "' holds no spec",
                     options.input,
                     "define one with QM_ATTENTION(name) { ... }, or a "
                     "func.func with one attn.attention");
}

/// The inputs in a compiler's list: "target: input \\ input".
void readDependencies(StringRef depfile, std::vector<std::string> &files) {
  auto buffer = llvm::MemoryBuffer::getFile(depfile);
  if (!buffer)
    return;
  std::string name;
  StringRef text = (*buffer)->getBuffer().split(": ").second;
  auto finish = [&] {
    if (!name.empty())
      files.push_back(std::exchange(name, ""));
  };
  for (size_t i = 0; i < text.size(); ++i) {
    char next = i + 1 < text.size() ? text[i + 1] : '\n';
    if (text[i] == '\\' && (next == ' ' || next == '#' || next == '\\'))
      name += text[++i];
    else if (text[i] == '$' && next == '$')
      name += text[++i];
    else if (llvm::isSpace(text[i]) || (text[i] == '\\' && next == '\n'))
      finish();
    else
      name += text[i];
  }
  finish();
}

/// Compiles and opens the shared object of a .cpp spec.
FailureOr<SpecLibrary>
openCpp(Session &session, const Options &options, const TempFolder &folder,
        std::vector<std::string> *dependencies = nullptr) {
  std::string object = folder.file("spec.so");
  if (failed(session.timer.measure("host compiler", [&] {
        return compileSpec(options, options.input, object,
                           dependencies ? folder.file("spec.d") : "");
      })))
    return failure();
  if (dependencies)
    readDependencies(folder.file("spec.d"), *dependencies);
  return SpecLibrary::open(object);
}

FailureOr<OwningOpRef<ModuleOp>>
loadCpp(Session &session, const Options &options,
        std::vector<std::string> *dependencies) {
  FailureOr<TempFolder> folder = TempFolder::create();
  if (failed(folder))
    return failure();
  FailureOr<SpecLibrary> library =
      openCpp(session, options, *folder, dependencies);
  if (failed(library))
    return failure();
  std::vector<std::string> names = library->names();
  if (names.empty())
    return noSpec(options);
  if (!options.spec.empty() && !llvm::is_contained(names, options.spec))
    return unknownSpec(options, names);

  OwningOpRef<ModuleOp> module =
      ModuleOp::create(UnknownLoc::get(&session.context));
  bool failedAny = false;
  for (auto [index, name] : llvm::enumerate(names)) {
    if (!options.spec.empty() && options.spec != name)
      continue;
    FailureOr<std::string> text = session.timer.measure(
        "trace", [&] { return library->trace(index, session.context); });
    if (failed(text)) {
      failedAny = true;
      continue;
    }
    OwningOpRef<ModuleOp> one = session.timer.measure(
        "parse", [&] { return parse(session, *text, name + ".spec.mlir"); });
    if (!one) {
      failedAny = true;
      continue;
    }
    module->getBody()->getOperations().splice(module->getBody()->end(),
                                              one->getBody()->getOperations());
  }
  if (failedAny)
    return failure();
  return module;
}

FailureOr<OwningOpRef<ModuleOp>> loadMlir(Session &session,
                                          const Options &options) {
  auto buffer = llvm::MemoryBuffer::getFileOrSTDIN(options.input);
  if (!buffer)
    return cannotRead(options, buffer.getError().message());
  OwningOpRef<ModuleOp> module = session.timer.measure("parse", [&] {
    return parse(session, (*buffer)->getBuffer(),
                 (*buffer)->getBufferIdentifier());
  });
  if (!module)
    return failure();
  SmallVector<Operation *> specs = specsOf(*module);
  if (specs.empty())
    return noSpec(options);
  if (options.spec.empty())
    return module;
  auto names = llvm::to_vector(llvm::map_range(specs, nameOf));
  if (!llvm::is_contained(names, options.spec))
    return unknownSpec(options, names);
  for (Operation *spec : specs)
    if (nameOf(spec) != options.spec)
      spec->erase();
  return module;
}

} // namespace

bool qm::driver::isCppSpec(StringRef path) {
  StringRef extension = llvm::sys::path::extension(path);
  return extension == ".cpp" || extension == ".cc" || extension == ".cxx";
}

FailureOr<OwningOpRef<ModuleOp>>
qm::driver::loadSpecs(Session &session, const Options &options,
                      std::vector<std::string> *dependencies) {
  if (failed(checkReadable(options)))
    return failure();
  FailureOr<OwningOpRef<ModuleOp>> module =
      isCppSpec(options.input) ? loadCpp(session, options, dependencies)
                               : loadMlir(session, options);
  if (succeeded(module)) {
    std::string text;
    llvm::raw_string_ostream os(text);
    (*module)->print(os);
    setCrashInput(std::move(text));
  }
  return module;
}

LogicalResult qm::driver::listSpecs(Session &session, const Options &options) {
  if (failed(checkReadable(options)))
    return failure();
  if (isCppSpec(options.input)) {
    FailureOr<TempFolder> folder = TempFolder::create();
    if (failed(folder))
      return failure();
    FailureOr<SpecLibrary> library = openCpp(session, options, *folder);
    if (failed(library))
      return failure();
    for (const std::string &name : library->names())
      llvm::outs() << name << '\n';
    return success();
  }
  FailureOr<OwningOpRef<ModuleOp>> module = loadMlir(session, options);
  if (failed(module))
    return failure();
  for (Operation *spec : specsOf(**module))
    llvm::outs() << nameOf(spec) << '\n';
  return success();
}
