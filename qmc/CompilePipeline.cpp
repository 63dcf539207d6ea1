//===- CompilePipeline.cpp - from specs to code ---------------------------===//
#include "qmc/CompilePipeline.h"
#include "qmc/Artifact.h"
#include "qmc/Console.h"
#include "qmc/NearestName.h"
#include "qmc/OutputFiles.h"
#include "qmc/ScheduleFile.h"

#include "dialect/AttnOps.h"
#include "dialect/Diagnostics.h"
#include "lowering/cpu/Pipeline.h"
#include "lowering/ptx/EmitPtx.h"
#include "lowering/ptx/Ptxas.h"
#include "lowering/sm75/Pipeline.h"
#include "lowering/sm80/Pipeline.h"
#include "lowering/sm90/Pipeline.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Pass/Pass.h"
#include "mlir/Pass/PassManager.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/Support/Path.h"

using namespace mlir;
using namespace qm;
using namespace qm::driver;
using lowering::KernelInfo;
using lowering::TargetInfo;

/// Whether --print-ir-after=NAME means `pass`: by flag (qm-tile-attention), by
/// flag without the prefix, or by class name (TileAttention).
static bool isNamed(Pass *pass, StringRef name) {
  StringRef flag = pass->getArgument();
  StringRef plain = flag;
  plain.consume_front("qm-");
  return name == "*" || name == flag || name == plain ||
         name == pass->getName();
}

LogicalResult CompilePipeline::runPasses(PassManager &manager, ModuleOp module,
                                         StringRef phase) {
  if (options.printIrAfter)
    manager.enableIRPrinting([](Pass *, Operation *) { return false; },
                             [this](Pass *pass, Operation *) {
                               return isNamed(pass, *options.printIrAfter);
                             },
                             /*printModuleScope=*/false,
                             /*printAfterOnlyOnChange=*/false,
                             /*printAfterOnlyOnFailure=*/false, llvm::errs());
  return session.timer.measure(phase, [&] { return manager.run(module); });
}

FailureOr<OwningOpRef<ModuleOp>>
CompilePipeline::lowerTo(ModuleOp module, passes::Level to,
                         const TargetInfo &target) {
  std::optional<passes::Level> from = passes::detectLevel(module);
  if (!from)
    return reportError(diag::Id::NoSpec,
                       "'" + options.input + "' holds no attn operator",
                       options.input, "see dialect/README.md for the levels");
  if (*from > to)
    return reportError(diag::Id::EmitNotPossible,
                       "'" + options.input + "' is at the " +
                           passes::getLevelName(*from) + " level, below " +
                           passes::getLevelName(to),
                       passes::getLevelName(to),
                       "start from the spec, or ask for a later level");
  if (*from == passes::Level::Scheduled)
    for (auto kernel : module.getOps<attn::KernelOp>())
      if (kernel.getSchedule() &&
          kernel.getSchedule()->getTarget() != target.name) {
        diag::help(diag::error(kernel, diag::Id::EmitNotPossible)
                       << "'" << kernel.getSymName() << "' is scheduled for "
                       << kernel.getSchedule()->getTarget() << ", not for "
                       << target.name.str(),
                   "use --arch=" + kernel.getSchedule()->getTarget());
        return failure();
      }

  OwningOpRef<ModuleOp> copy(module.clone());
  passes::CompileOptions compile;
  compile.target = target.name.str();
  if (!options.schedules.empty()) {
    auto chosen = readScheduleOverrides(options.schedules, target.name);
    if (failed(chosen))
      return failure();
    compile.overrides = std::move(*chosen);
  }
  // The last override of a field counts.
  for (const std::string &text : options.overrides)
    compile.overrides.push_back(text);
  auto run = [&](passes::Level first, passes::Level last) {
    PassManager manager(&session.context);
    passes::buildPipeline(manager, first, last, compile);
    return runPasses(manager, *copy, "passes");
  };
  if (!options.saveTemps) {
    if (failed(run(*from, to)))
      return failure();
    return copy;
  }
  // One level at a time, each kept.
  for (passes::Level level = *from;; level = passes::Level(int(level) + 1)) {
    if (level != *from && failed(run(passes::Level(int(level) - 1), level)))
      return failure();
    std::string text;
    llvm::raw_string_ostream os(text);
    copy->print(os);
    if (failed(saveTemp(target, (passes::getLevelName(level) + ".mlir").str(),
                        text)))
      return failure();
    if (level == to)
      return copy;
  }
}

LogicalResult CompilePipeline::saveTemp(const TargetInfo &target,
                                        StringRef suffix, StringRef bytes) {
  if (!options.saveTemps)
    return success();
  StringRef stem = options.input == "-" ? StringRef("specs")
                                        : llvm::sys::path::stem(options.input);
  llvm::SmallString<128> path(*options.saveTemps);
  llvm::sys::path::append(path, stem + "." + target.name + "." + suffix);
  OutputFiles files;
  if (failed(files.add(path, bytes)))
    return failure();
  return files.commit();
}

LogicalResult CompilePipeline::lowerToCpu(ModuleOp scheduled) {
  PassManager manager(&session.context);
  cpu::buildCpuPipeline(manager);
  return runPasses(manager, scheduled, "lower to cpu");
}

FailureOr<GpuCode> CompilePipeline::lowerToGpu(ModuleOp scheduled,
                                               const TargetInfo &target,
                                               bool wantCubin) {
  GpuCode code;
  code.kernels = getKernels(scheduled);
  Location where = scheduled.getBody()->empty()
                       ? scheduled.getLoc()
                       : scheduled.getBody()->front().getLoc();
  PassManager manager(&session.context);
  // Once behind all passes: after each of them it would be a tenth of the
  // lowering's time.
  manager.enableVerifier(false);
  if (target.sm == 75)
    sm75::buildSm75Pipeline(manager);
  else if (target.sm == 90)
    sm90::buildSm90Pipeline(manager);
  else
    sm80::buildSm80Pipeline(manager);
  std::string phase = ("lower to " + target.name).str();
  if (failed(runPasses(manager, scheduled, phase)) ||
      failed(session.timer.measure(phase, [&] { return verify(scheduled); })))
    return failure();
  for (KernelInfo &kernel : code.kernels)
    if (auto function = scheduled.lookupSymbol<LLVM::LLVMFuncOp>(kernel.name))
      if (auto bytes =
              function->getAttrOfType<IntegerAttr>("attn.shared_bytes"))
        kernel.sharedBytes = bytes.getInt();

  ptx::PtxOptions ptxOptions;
  ptxOptions.target = target.name.str();
  if (options.saveTemps ||
      llvm::is_contained(options.emit, getEmitName(Emit::Llvm)))
    ptxOptions.llvmIr = &code.llvmIr;
  FailureOr<std::string> text = session.timer.measure(
      "PTX", [&] { return ptx::emitPtx(scheduled, ptxOptions); });
  if (failed(text))
    return failure();
  code.ptx = std::move(*text);
  if (failed(saveTemp(target, "ll", code.llvmIr)) ||
      failed(saveTemp(target, "ptx", code.ptx)))
    return failure();
  if (!wantCubin)
    return code;

  ptx::PtxasOptions ptxas;
  ptxas.path = options.ptxas;
  ptxas.target = target.name.str();
  FailureOr<ptx::Assembled> assembled = session.timer.measure(
      "ptxas", [&] { return ptx::assemble(code.ptx, ptxas, where); });
  if (failed(assembled))
    return failure();
  code.cubin = std::move(assembled->cubin);
  code.report = std::move(assembled->report);
  for (const ptx::KernelResources &kernel : code.report.kernels)
    reportProgress("ptxas: " + kernel.kernel + ": " +
                   llvm::Twine(kernel.registers) + " registers, " +
                   llvm::Twine(kernel.spillStores) + " bytes spilled");
  if (failed(saveTemp(target, "cubin", code.cubin)))
    return failure();
  return code;
}

FailureOr<std::vector<const TargetInfo *>>
qm::driver::findTargets(const Options &options, ArrayRef<StringRef> defaults) {
  std::vector<const TargetInfo *> targets;
  auto add = [&](StringRef name) {
    const TargetInfo *target = lowering::findTarget(name);
    if (target && !llvm::is_contained(targets, target))
      targets.push_back(target);
    return target;
  };
  for (StringRef name : options.arch)
    if (!add(name)) {
      std::vector<std::string> known = {"cpu"};
      for (const TargetInfo &target : lowering::allTargets())
        known.push_back(target.name.str());
      std::string nearest = nearestName(name, known);
      return reportError(
          diag::Id::UnknownArch, "unknown target '" + name + "'", name,
          (nearest.empty() ? "" : "did you mean '" + nearest + "'? ") +
              ("known: " + lowering::targetNames()));
    }
  if (targets.empty())
    for (StringRef name : defaults)
      add(name);
  return targets;
}

std::vector<KernelInfo> qm::driver::getKernels(ModuleOp module) {
  std::vector<KernelInfo> kernels;
  for (auto kernel : module.getOps<attn::KernelOp>())
    kernels.push_back(KernelInfo::get(kernel));
  return kernels;
}
