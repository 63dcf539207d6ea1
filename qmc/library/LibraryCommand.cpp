//===- LibraryCommand.cpp - qmc build --emit=lib --------------------------===//
#include "qmc/library/LibraryCommand.h"
#include "qmc/Console.h"
#include "qmc/OutputFiles.h"
#include "qmc/library/CompileKernels.h"
#include "qmc/library/Link.h"
#include "qmc/library/Package.h"

#include "llvm/ADT/SmallString.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"

#include <cstdlib>

using namespace llvm;
using namespace mlir;
using namespace qm;
using namespace qm::driver;
using lowering::TargetInfo;

namespace {

/// --cache-dir, else QM_CACHE_DIR, else none.
std::string cacheFolder(const Options &options) {
  const char *variable = std::getenv("QM_CACHE_DIR");
  return !options.cacheDir.empty() ? options.cacheDir
         : variable                ? variable
                                   : "";
}

/// -o out/attn is lib `attn` in `out`; out/libattn.a is, too.
class Placement {
public:
  static FailureOr<Placement> from(const Options &options) {
    StringRef output = options.output;
    Placement place;
    StringRef name = sys::path::filename(output);
    if (output.empty() || output == "-" || name.empty() || name == "." ||
        sys::fs::is_directory(output))
      return reportError(diag::Id::BadFlagValue,
                         "a library needs a name: -o FOLDER/NAME",
                         output.empty() ? "build" : output,
                         "for example -o out/attn for out/libattn.a");
    name.consume_front("lib");
    if (!name.consume_back(".a") && !name.consume_back(".so"))
      name.consume_back(".h");
    place.folder = sys::path::parent_path(output).str();
    place.name = name.str();
    bool isIdentifier =
        !name.empty() && !isDigit(name.front()) &&
        all_of(name, [](char c) { return isAlnum(c) || c == '_'; });
    if (isIdentifier)
      return place;
    return reportError(diag::Id::BadFlagValue,
                       "'" + name +
                           "' cannot name a library: its functions "
                           "begin with it",
                       output, "use letters, digits and underscores");
  }

  std::string path(const Twine &file) const {
    SmallString<128> path(folder);
    sys::path::append(path, file);
    return path.str().str();
  }

  std::string folder, name;
};

class LibraryBuild {
public:
  LibraryBuild(Session &session, const Options &options,
               ArrayRef<const TargetInfo *> targets, Placement place)
      : session(session), options(options), targets(targets),
        place(std::move(place)), cache(cacheFolder(options)) {}

  LogicalResult read();
  LogicalResult compile() {
    return compileKernels(session, options, targets, cache, library);
  }
  LogicalResult write(ArrayRef<Emit> emits);

private:
  LogicalResult checkNames();
  std::string makeDepfile(ArrayRef<std::string> outputs) const;

  Session &session;
  const Options &options;
  ArrayRef<const TargetInfo *> targets;
  Placement place;
  Cache cache;
  SpecTexts texts;
  std::vector<KernelRequest> requests;
  LibraryContents library;
};

LogicalResult LibraryBuild::read() {
  if (failed(cache.open()))
    return failure();
  FailureOr<SpecTexts> read = readSpecTexts(session, options, cache);
  if (failed(read))
    return failure();
  texts = std::move(*read);
  FailureOr<std::vector<KernelRequest>> made =
      session.timer.measure("parse", [&] {
        return requestKernels(session, options, targets, texts.specs);
      });
  if (failed(made))
    return failure();
  requests = std::move(*made);
  for (const KernelRequest &request : requests)
    if (none_of(targets, [&](const TargetInfo *target) {
          return request.isFor(target->name);
        }))
      return reportError(diag::Id::BadFlagValue,
                         "'" + request.name +
                             "' has settings for no target of --arch",
                         "--variant", "add the target to --arch");
  library.name = place.name;
  for (const KernelRequest &request : requests) {
    if (library.operators.empty() ||
        library.operators.back().name != request.operatorName)
      library.operators.push_back({request.operatorName, {}});
    library.operators.back().kernels.push_back(&request);
  }
  return checkNames();
}

/// Functions of the library that are not specs.
LogicalResult LibraryBuild::checkNames() {
  for (const LibraryOperator &op : library.operators)
    if (is_contained({"library", "unload", "embedded"}, op.name))
      return reportError(diag::Id::DuplicateSpec,
                         "a spec '" + op.name + "' and the function " +
                             library.name + "_" + op.name +
                             " of every library have one name",
                         "", "rename the spec");
  return success();
}

/// What CMake, make and ninja read: "outputs: inputs".
std::string LibraryBuild::makeDepfile(ArrayRef<std::string> outputs) const {
  auto escape = [](StringRef path) {
    std::string text;
    for (char c : path) {
      if (c == ' ' || c == '#' || c == '\\')
        text += '\\';
      text += c == '$' ? "$$" : std::string(1, c);
    }
    return text;
  };
  std::string text;
  for (const std::string &output : outputs)
    text += (text.empty() ? "" : " ") + escape(output);
  text += ":";
  for (const std::string &file : texts.dependencies)
    text += " \\\n  " + escape(file);
  return text + "\n";
}

LogicalResult LibraryBuild::write(ArrayRef<Emit> emits) {
  bool wantsArchive =
      is_contained(emits, Emit::Lib) || is_contained(emits, Emit::Archive);
  bool wantsShared =
      is_contained(emits, Emit::Lib) || is_contained(emits, Emit::Shared);
  std::string manifest = makeLibraryManifest(library);
  std::vector<const PackedImage *> images;
  for (const std::unique_ptr<KernelJob> &job : library.jobs)
    for (const auto &[format, image] : job->result.images)
      images.push_back(&image);
  FailureOr<std::string> object = session.timer.measure("object file", [&] {
    return makeLibraryObject(library, makePackage(manifest, images));
  });
  if (failed(object))
    return failure();
  FailureOr<std::string> archive = makeArchive(library, *object);
  if (failed(archive))
    return failure();
  FailureOr<std::string> shared = std::string();
  if (wantsShared)
    shared = session.timer.measure(
        "link", [&] { return linkShared(options, library, *archive); });
  if (failed(shared))
    return failure();

  OutputFiles files;
  std::vector<std::string> outputs;
  auto add = [&](const Twine &file, StringRef bytes) {
    outputs.push_back(place.path(file));
    return files.add(outputs.back(), bytes);
  };
  if ((wantsArchive && failed(add("lib" + place.name + ".a", *archive))) ||
      (wantsShared && failed(add("lib" + place.name + ".so", *shared))) ||
      failed(add(place.name + ".h", makeLibraryHeader(library))) ||
      failed(add(place.name + ".json", manifest)))
    return failure();
  if (!options.depfile.empty() &&
      failed(files.add(options.depfile, makeDepfile(outputs))))
    return failure();
  for (const std::string &output : outputs)
    reportProgress("writes " + output);
  return files.commit();
}

} // namespace

LogicalResult qm::driver::buildLibrary(Session &session, const Options &options,
                                       ArrayRef<Emit> emits,
                                       ArrayRef<const TargetInfo *> targets) {
  FailureOr<Placement> place = Placement::from(options);
  if (failed(place))
    return failure();
  LibraryBuild build(session, options, targets, std::move(*place));
  if (failed(build.read()) || failed(build.compile()))
    return failure();
  return session.timer.measure("write", [&] { return build.write(emits); });
}
