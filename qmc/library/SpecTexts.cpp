//===- SpecTexts.cpp - the specs of several files as text -----------------===//
#include "qmc/library/SpecTexts.h"
#include "qmc/Console.h"
#include "qmc/HostCompiler.h"
#include "qmc/SpecLoader.h"

#include "dialect/AttnOps.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/MemoryBuffer.h"

#include <map>

using namespace mlir;
using namespace qm;
using namespace qm::driver;

namespace {

std::optional<ContentHash> hashFile(StringRef path) {
  auto buffer = llvm::MemoryBuffer::getFile(path, /*IsText=*/false,
                                            /*RequiresNullTerminator=*/false);
  if (!buffer)
    return std::nullopt;
  return hashBytes((*buffer)->getBuffer());
}

/// The specs of one file, with where they were last read from.
class FileReader {
public:
  FileReader(Session &session, const Options &all, StringRef file, Cache &cache)
      : session(session), options(all), cache(cache) {
    options.input = file.str();
  }

  LogicalResult read(SpecTexts &out);

private:
  ContentHash key() const;
  bool readFromCache(SpecTexts &out);
  void writeToCache(ArrayRef<SpecText> specs,
                    ArrayRef<std::string> dependencies);

  Session &session;
  Options options;
  Cache &cache;
};

/// Everything but the files: those are in the entry, with their hashes.
ContentHash FileReader::key() const {
  SmallVector<std::string> parts = {"specs 1", compilerIdentity(),
                                    hostCompilerIdentity(options),
                                    options.input, options.spec};
  llvm::append_range(parts, options.includes);
  SmallVector<StringRef> views(parts.begin(), parts.end());
  return hashParts(views);
}

bool FileReader::readFromCache(SpecTexts &out) {
  std::optional<std::string> entry = cache.get(key());
  if (!entry)
    return false;
  llvm::Expected<llvm::json::Value> json = llvm::json::parse(*entry);
  if (!json) {
    llvm::consumeError(json.takeError());
    return false;
  }
  const llvm::json::Object *object = json->getAsObject();
  const llvm::json::Array *files = object ? object->getArray("files") : nullptr;
  const llvm::json::Array *specs = object ? object->getArray("specs") : nullptr;
  if (!files || !specs)
    return false;
  std::vector<std::string> dependencies;
  for (const llvm::json::Value &file : *files) {
    StringRef path = file.getAsObject()->getString("path").value_or("");
    std::optional<ContentHash> hash = hashFile(path);
    if (!hash || toHex(*hash) != file.getAsObject()->getString("hash"))
      return false;
    dependencies.push_back(path.str());
  }
  for (const llvm::json::Value &spec : *specs)
    out.specs.push_back(
        {spec.getAsObject()->getString("name").value_or("").str(),
         spec.getAsObject()->getString("text").value_or("").str()});
  llvm::append_range(out.dependencies, dependencies);
  return true;
}

void FileReader::writeToCache(ArrayRef<SpecText> specs,
                              ArrayRef<std::string> dependencies) {
  llvm::json::Array files, texts;
  for (const std::string &path : dependencies) {
    std::optional<ContentHash> hash = hashFile(path);
    if (!hash)
      return;
    files.push_back(llvm::json::Object{{"path", path}, {"hash", toHex(*hash)}});
  }
  for (const SpecText &spec : specs)
    texts.push_back(
        llvm::json::Object{{"name", spec.name}, {"text", spec.text}});
  std::string entry;
  llvm::raw_string_ostream(entry) << llvm::json::Value(llvm::json::Object{
      {"files", std::move(files)}, {"specs", std::move(texts)}});
  cache.put(key(), entry);
}

LogicalResult FileReader::read(SpecTexts &out) {
  bool isCpp = isCppSpec(options.input);
  if (isCpp && readFromCache(out))
    return success();
  std::vector<std::string> dependencies;
  if (options.input != "-")
    dependencies.push_back(options.input);
  FailureOr<OwningOpRef<ModuleOp>> module =
      loadSpecs(session, options, &dependencies);
  if (failed(module))
    return failure();
  std::vector<SpecText> specs;
  for (Operation &op : *(*module)->getBody()) {
    if (isa<attn::KernelOp>(op))
      return reportError(diag::Id::EmitNotPossible,
                         "'" + options.input +
                             "' is below the spec level; a library is built "
                             "from specs",
                         options.input,
                         "start from the .cpp or the spec-level .mlir");
    auto function = dyn_cast<func::FuncOp>(op);
    if (!function)
      continue;
    SpecText &spec = specs.emplace_back();
    spec.name = function.getSymName().str();
    llvm::raw_string_ostream os(spec.text);
    OwningOpRef<ModuleOp> alone = ModuleOp::create(function.getLoc());
    alone->push_back(function.clone());
    alone->print(os, OpPrintingFlags().enableDebugInfo());
  }
  if (isCpp)
    writeToCache(specs, dependencies);
  llvm::append_range(out.specs, specs);
  llvm::append_range(out.dependencies, dependencies);
  return success();
}

} // namespace

FailureOr<SpecTexts> qm::driver::readSpecTexts(Session &session,
                                               const Options &options,
                                               Cache &cache) {
  SpecTexts texts;
  std::map<std::string, std::string> fileOf;
  for (const std::string &file : options.files) {
    size_t before = texts.specs.size();
    if (failed(FileReader(session, options, file, cache).read(texts)))
      return failure();
    for (size_t i = before; i < texts.specs.size(); ++i) {
      auto [known, isNew] = fileOf.try_emplace(texts.specs[i].name, file);
      if (!isNew)
        return reportError(diag::Id::DuplicateSpec,
                           "'" + known->second + "' and '" + file +
                               "' both have a spec '" + texts.specs[i].name +
                               "'",
                           file, "rename one, or build two libraries");
    }
  }
  llvm::sort(texts.dependencies);
  texts.dependencies.erase(llvm::unique(texts.dependencies),
                           texts.dependencies.end());
  return texts;
}
