//===- BuildCommand.cpp - qmc build ---------------------------------------===//
#include "qmc/Artifact.h"
#include "qmc/Commands.h"
#include "qmc/CompileForGpu.h"
#include "qmc/Console.h"
#include "qmc/NearestName.h"
#include "qmc/OutputFiles.h"
#include "qmc/SpecLoader.h"
#include "qmc/library/LibraryCommand.h"

#include "dialect/AttnOps.h"
#include "lowering/cpu/ObjectFile.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/Path.h"

using namespace mlir;
using namespace qm;
using namespace qm::driver;
using lowering::KernelInfo;
using lowering::TargetInfo;
using lowering::TargetKind;

namespace {

std::string print(ModuleOp module) {
  std::string text;
  llvm::raw_string_ostream os(text);
  module.print(os);
  return text;
}

/// The outputs to make; those of --emit, or what suits the targets.
FailureOr<std::vector<Emit>> chooseEmits(const Options &options,
                                         ArrayRef<const TargetInfo *> targets) {
  std::vector<Emit> emits;
  for (StringRef name : options.emit) {
    std::optional<Emit> emit = parseEmit(name);
    if (!emit) {
      std::string nearest = nearestName(name, emitNames());
      return reportError(
          diag::Id::BadFlagValue, "--emit knows no '" + name + "'", name,
          nearest.empty() ? "choose from " + llvm::join(emitNames(), ", ")
                          : "did you mean '" + nearest + "'?");
    }
    bool possible = llvm::any_of(targets, [&](const TargetInfo *target) {
      return fits(*emit, target->kind);
    });
    if (!possible)
      return reportError(
          diag::Id::EmitNotPossible,
          "none of the targets gives " + getEmitName(*emit), name,
          *emit == Emit::Obj ? "add a CPU to --arch, for example cpu"
                             : "add a GPU to --arch, for example sm_80");
    if (!llvm::is_contained(emits, *emit))
      emits.push_back(*emit);
  }
  if (emits.empty()) {
    for (const TargetInfo *target : targets) {
      if (target->kind == TargetKind::Nvidia &&
          !llvm::is_contained(emits, Emit::Ptx))
        emits.insert(emits.end(), {Emit::Ptx, Emit::Cubin});
      if (target->kind == TargetKind::Cpu &&
          !llvm::is_contained(emits, Emit::Obj))
        emits.push_back(Emit::Obj);
    }
    emits.push_back(Emit::Json);
  }
  return emits;
}

/// Name of the outputs: the spec's if there is one, else the input file's.
std::string stemOf(ModuleOp module, const Options &options) {
  SmallVector<std::string> names;
  for (Operation &op : *module.getBody())
    if (isa<func::FuncOp, attn::KernelOp>(op))
      names.push_back(SymbolTable::getSymbolName(&op).str());
  if (names.size() == 1)
    return names.front();
  return options.input == "-" ? "specs"
                              : llvm::sys::path::stem(options.input).str();
}

class BuildJob {
public:
  BuildJob(Session &session, const Options &options, ModuleOp module)
      : session(session), options(options), module(module),
        pipeline(session, options), stem(stemOf(module, options)) {}

  LogicalResult make(ArrayRef<Emit> emits,
                     ArrayRef<const TargetInfo *> targets);
  LogicalResult write();

private:
  LogicalResult makeLevel(passes::Level level, Emit emit,
                          const TargetInfo &target);
  LogicalResult makeCpu(ArrayRef<Emit> emits, const TargetInfo &target);
  LogicalResult makeGpu(ArrayRef<Emit> emits, const TargetInfo &target);
  void add(Emit emit, StringRef target, std::string bytes) {
    artifacts.push_back({emit, target.str(), std::move(bytes)});
  }
  void describe(std::vector<KernelInfo> kernels, StringRef imageSuffix);
  void placeOutputs(bool several);
  void addManifest();

  Session &session;
  const Options &options;
  ModuleOp module;
  CompilePipeline pipeline;
  std::string folder, stem;
  std::string file; ///< the whole path, if -o names the one output
  std::vector<Artifact> artifacts;
  std::vector<KernelInfo> manifest;
};

LogicalResult BuildJob::makeLevel(passes::Level level, Emit emit,
                                  const TargetInfo &target) {
  FailureOr<OwningOpRef<ModuleOp>> lowered =
      pipeline.lowerTo(module, level, target);
  if (failed(lowered))
    return failure();
  add(emit, isPerTarget(emit) ? StringRef(target.name) : "", print(**lowered));
  return success();
}

void BuildJob::describe(std::vector<KernelInfo> kernels,
                        StringRef imageSuffix) {
  for (KernelInfo &kernel : kernels) {
    kernel.image = imageSuffix.str();
    manifest.push_back(std::move(kernel));
  }
}

/// What -o means depends on how many outputs there are.
void BuildJob::placeOutputs(bool several) {
  StringRef output = options.output;
  if (output.empty() || output == "-")
    return;
  if (output.ends_with("/") || llvm::sys::fs::is_directory(output)) {
    folder = output.str();
  } else if (several) {
    folder = llvm::sys::path::parent_path(output).str();
    stem = llvm::sys::path::filename(output).str();
  } else {
    file = output.str();
  }
}

/// The manifest names images by the files they go to.
void BuildJob::addManifest() {
  for (KernelInfo &kernel : manifest)
    kernel.image = stem + "." + kernel.image;
  std::string text;
  llvm::raw_string_ostream(text) << llvm::formatv(
      "{0:2}\n", llvm::json::Value(lowering::makeManifest(manifest)));
  add(Emit::Json, "", std::move(text));
}

LogicalResult BuildJob::makeCpu(ArrayRef<Emit> emits,
                                const TargetInfo &target) {
  bool llvm = llvm::is_contained(emits, Emit::Llvm);
  bool object = llvm::is_contained(emits, Emit::Obj);
  bool json = llvm::is_contained(emits, Emit::Json);
  if (!llvm && !object && !json)
    return success();
  FailureOr<OwningOpRef<ModuleOp>> lowered =
      pipeline.lowerTo(module, passes::Level::Scheduled, target);
  if (failed(lowered))
    return failure();
  describe(getKernels(**lowered), target.name.str() + ".o");
  if (!llvm && !object)
    return success();
  if (failed(pipeline.lowerToCpu(**lowered)))
    return failure();
  for (auto [wanted, emit, function] :
       {std::tuple(llvm, Emit::Llvm, &cpu::makeLlvmIr),
        {object, Emit::Obj, &cpu::makeObjectFile}}) {
    if (!wanted)
      continue;
    FailureOr<std::string> bytes = session.timer.measure(
        "machine code", [&, make = function] { return make(**lowered); });
    if (failed(bytes))
      return failure();
    add(emit, target.name, std::move(*bytes));
  }
  return success();
}

LogicalResult BuildJob::makeGpu(ArrayRef<Emit> emits,
                                const TargetInfo &target) {
  auto wants = [&](Emit emit) { return llvm::is_contained(emits, emit); };
  if (!wants(Emit::Llvm) && !wants(Emit::Ptx) && !wants(Emit::Cubin) &&
      !wants(Emit::Json))
    return success();
  FailureOr<GpuModule> compiled =
      compileForGpu(session, options, module, target, wants(Emit::Cubin));
  if (failed(compiled))
    return failure();
  GpuCode &code = compiled->code;
  // With both images the manifest offers both: a cubin for its own GPU, PTX for
  // later ones. A manifest alone names the image that needs no ptxas.
  if (wants(Emit::Cubin))
    describe(code.kernels, target.name.str() + ".cubin");
  if (wants(Emit::Ptx) || !wants(Emit::Cubin))
    describe(code.kernels, target.name.str() + ".ptx");
  if (wants(Emit::Llvm))
    add(Emit::Llvm, target.name, std::move(code.llvmIr));
  if (wants(Emit::Ptx))
    add(Emit::Ptx, target.name, std::move(code.ptx));
  if (wants(Emit::Cubin))
    add(Emit::Cubin, target.name, std::move(code.cubin));
  return success();
}

LogicalResult BuildJob::make(ArrayRef<Emit> emits,
                             ArrayRef<const TargetInfo *> targets) {
  for (Emit emit : emits)
    if (std::optional<passes::Level> level = getLevel(emit))
      for (const TargetInfo *target :
           isPerTarget(emit) ? targets : targets.take_front())
        if (failed(makeLevel(*level, emit, *target)))
          return failure();
  for (const TargetInfo *target : targets)
    if (failed(target->kind == TargetKind::Cpu ? makeCpu(emits, *target)
                                               : makeGpu(emits, *target)))
      return failure();
  bool json = llvm::is_contained(emits, Emit::Json);
  placeOutputs(artifacts.size() + json > 1);
  if (json)
    addManifest();
  return success();
}

LogicalResult BuildJob::write() {
  if (options.output == "-") {
    if (artifacts.size() != 1)
      return reportError(diag::Id::CannotWrite,
                         llvm::Twine(artifacts.size()) +
                             " outputs cannot share standard output",
                         "-o", "ask for one with --emit, or name a folder");
    llvm::outs() << artifacts.front().bytes;
    return success();
  }
  OutputFiles files;
  for (const Artifact &artifact : artifacts) {
    llvm::SmallString<128> path(folder);
    llvm::sys::path::append(path, stem + "." + artifact.suffix());
    StringRef destination = file.empty() ? path.str() : StringRef(file);
    if (failed(files.add(destination, artifact.bytes)))
      return failure();
    reportProgress("writes " + destination);
  }
  return files.commit();
}

/// What only a library has.
LogicalResult refuseLibraryFlags(const Options &options) {
  auto refuse = [](StringRef what, StringRef value) {
    return reportError(diag::Id::BadFlagValue, what + " is for libraries",
                       value, "add --emit=lib, or leave it out");
  };
  if (options.files.size() > 1)
    return reportError(diag::Id::UnknownFlag,
                       "more than one input: '" + options.files[1] + "'",
                       options.files[1],
                       "give one .cpp or .mlir file at a time; a library "
                       "(--emit=lib) takes several");
  if (!options.dtypes.empty())
    return refuse("--dtype", options.dtypes.front());
  if (!options.headDims.empty())
    return refuse("--head-dim", std::to_string(options.headDims.front()));
  if (!options.heads.empty())
    return refuse("--heads", options.heads.front());
  if (!options.variants.empty())
    return refuse("--variant", options.variants.front());
  if (!options.depfile.empty())
    return refuse("--depfile", options.depfile);
  return success();
}

} // namespace

LogicalResult qm::driver::runBuild(Session &session, const Options &options) {
  if (options.listSpecs)
    return listSpecs(session, options);
  bool wantsLibrary = llvm::any_of(options.emit, [](StringRef name) {
    std::optional<Emit> emit = parseEmit(name);
    return emit && isLibrary(*emit);
  });
  if (!wantsLibrary && failed(refuseLibraryFlags(options)))
    return failure();
  bool wantsGpu = llvm::is_contained(options.emit, "ptx") ||
                  llvm::is_contained(options.emit, "cubin");
  FailureOr<std::vector<const TargetInfo *>> targets =
      findTargets(options, {wantsGpu ? "sm_80" : "cpu"});
  if (failed(targets))
    return failure();
  FailureOr<std::vector<Emit>> emits = chooseEmits(options, *targets);
  if (failed(emits))
    return failure();
  if (wantsLibrary) {
    for (Emit emit : *emits)
      if (!isLibrary(emit))
        return reportError(diag::Id::EmitNotPossible,
                           "a library and " + getEmitName(emit) +
                               " cannot be made by one command",
                           getEmitName(emit), "run qmc build once for each");
    return buildLibrary(session, options, *emits, *targets);
  }
  FailureOr<OwningOpRef<ModuleOp>> module = loadSpecs(session, options);
  if (failed(module))
    return failure();
  BuildJob job(session, options, **module);
  if (failed(job.make(*emits, *targets)))
    return failure();
  return session.timer.measure("write", [&] { return job.write(); });
}
