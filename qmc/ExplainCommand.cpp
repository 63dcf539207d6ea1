//===- ExplainCommand.cpp - qmc explain -----------------------------------===//
#include "qmc/BlockPicture.h"
#include "qmc/CallData.h"
#include "qmc/Commands.h"
#include "qmc/CompileForGpu.h"
#include "qmc/Console.h"
#include "qmc/Explanation.h"
#include "qmc/OutputFiles.h"
#include "qmc/ScheduleReasons.h"
#include "qmc/SpecFunctions.h"
#include "qmc/library/CallKinds.h"

#include "dialect/AttnOps.h"
#include "lowering/ptx/Ptxas.h"
#include "passes/ScheduleModel.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"

using namespace mlir;
using namespace qm;
using namespace qm::driver;
using lowering::TargetInfo;
using lowering::TargetKind;
using reference::TensorView;

namespace {

bool isCode(StringRef text) {
  return text.size() == 6 && text.starts_with_insensitive("QM") &&
         llvm::all_of(text.drop_front(2), llvm::isDigit);
}

/// The long text of a diagnostic, wrapped to 80 columns.
LogicalResult explainCode(StringRef code) {
  unsigned number = 0;
  (void)code.drop_front(2).getAsInteger(10, number);
  const diag::Info *info = diag::find(number);
  if (!info)
    return reportError(diag::Id::UnknownCode, "no diagnostic is called " + code,
                       code, "give the code as a message prints it");
  llvm::outs() << diag::code(info->id) << ": " << info->title << "\n\n";
  unsigned column = 0;
  for (StringRef word : llvm::split(info->text, ' ')) {
    if (column && column + 1 + word.size() > 80) {
      llvm::outs() << '\n';
      column = 0;
    }
    llvm::outs() << (column ? " " : "") << word;
    column += word.size() + (column ? 1 : 0);
  }
  llvm::outs() << '\n';
  return success();
}

double bytesOf(const CallData &data) {
  double bytes = 0;
  for (const reference::Argument &argument : data.inputsAndOutputs())
    if (const auto *view = std::get_if<TensorView>(&argument))
      bytes +=
          double(view->numElements()) * runtime::bytesPerElement(view->dtype);
  return bytes;
}

class Explainer {
public:
  Explainer(Session &session, const Options &options)
      : session(session), options(options), pipeline(session, options) {}
  LogicalResult run();

private:
  LogicalResult explainTarget(const TargetInfo &target);
  LogicalResult writePictures();
  LogicalResult explainKernel(func::FuncOp spec, attn::KernelOp kernel,
                              const TargetInfo &target, Explanation &report);
  void addOccupancy(attn::KernelOp kernel, const GpuCode &code,
                    Explanation &report);

  Session &session;
  const Options &options;
  CompilePipeline pipeline;
  OwningOpRef<ModuleOp> module;
  SmallVector<func::FuncOp> specs;
  std::vector<Explanation> reports;
};

LogicalResult Explainer::explainKernel(func::FuncOp spec, attn::KernelOp kernel,
                                       const TargetInfo &target,
                                       Explanation &report) {
  FailureOr<reference::Reference> reference =
      reference::Reference::create(spec);
  if (failed(reference))
    return failure();
  FailureOr<CallData> data = CallData::create(spec, options, Layout::Bshd);
  if (failed(data) || failed(reference->check(data->inputs())))
    return failure();
  report.kernel = lowering::KernelInfo::get(kernel);
  report.target = &target;
  report.extents = reference->extentsOf(data->inputs());
  report.headDim = passes::getHeadDim(kernel);
  report.valueDim = passes::getValueHeadDim(kernel);
  report.reasons = explainSchedule(kernel, target, options.overrides);
  if (!choosesSchedules(options))
    report.lengthVariants = passes::getLengthVariants(kernel, target);
  setStatus("evaluates the mask at all pairs, " +
            llvm::Twine(report.extents.query) + " x " +
            llvm::Twine(report.extents.key));
  session.timer.measure("count blocks", [&] {
    report.counts =
        reference->countBlocks(data->inputs(), report.kernel.tileM,
                               report.kernel.tileN, options.threads);
    if (reference->hasMask() || !options.picture.empty())
      report.map = reference->mapBlocks(data->inputs(), report.kernel.tileM,
                                        report.kernel.tileN, options.threads);
  });
  setStatus("");

  double perPair = 2.0 * (report.headDim + report.valueDim);
  report.work.usefulFlops = perPair * report.counts.keptPairs;
  report.work.runFlops =
      perPair * report.kernel.tileM * report.kernel.tileN *
      (report.counts.fullBlocks + report.counts.partialBlocks);
  report.work.bytes = bytesOf(*data);
  if (target.kind == TargetKind::Cpu) {
    report.work.peakFlops =
        hostPeakFlops(target, options.threads, report.peakNote);
  } else {
    report.work.peakFlops = target.matrixTflops * 1e12;
    report.work.peakBytes = target.memoryGBs * 1e9;
    report.peakNote = ("figures of the data sheet of " + target.card).str();
  }
  return success();
}

void Explainer::addOccupancy(attn::KernelOp kernel, const GpuCode &code,
                             Explanation &report) {
  passes::Footprint footprint =
      passes::estimateFootprint(kernel, getSchedule(kernel), *report.target);
  auto found = llvm::find_if(code.kernels, [&](const auto &info) {
    return info.name == report.kernel.name;
  });
  int64_t threads = found->threads, sharedBytes = found->sharedBytes;
  report.kernel.sharedBytes = sharedBytes;
  report.planned = computeOccupancy(*report.target, threads,
                                    footprint.registers, sharedBytes);
  if (const auto *resources = code.report.find(report.kernel.name)) {
    report.resources = *resources;
    report.measured =
        computeOccupancy(*report.target, threads, resources->registers,
                         sharedBytes + resources->sharedBytes);
  }
}

LogicalResult Explainer::explainTarget(const TargetInfo &target) {
  GpuModule compiled;
  if (target.kind == TargetKind::Cpu) {
    auto scheduled =
        pipeline.lowerTo(*module, passes::Level::Scheduled, target);
    if (failed(scheduled))
      return failure();
    compiled.scheduled = std::move(*scheduled);
  } else {
    // A missing ptxas costs the measured figures only, unless it was named.
    bool assemble =
        !options.ptxas.empty() || !ptx::findPtxas(options.ptxas).empty();
    auto forGpu = compileForGpu(session, options, *module, target, assemble);
    if (failed(forGpu))
      return failure();
    compiled = std::move(*forGpu);
  }
  for (func::FuncOp spec : specs) {
    auto kernel =
        compiled.scheduled->lookupSymbol<attn::KernelOp>(spec.getName());
    Explanation &report = reports.emplace_back();
    if (failed(explainKernel(spec, kernel, target, report)))
      return failure();
    if (target.kind != TargetKind::Cpu)
      addOccupancy(kernel, compiled.code, report);
  }
  return success();
}

/// One picture goes to FILE.svg, several to FILE.SPEC.TARGET.svg each.
LogicalResult Explainer::writePictures() {
  constexpr int64_t cells = 256;
  StringRef stem = options.picture;
  if (stem.empty())
    return success();
  if (!stem.consume_back(".svg"))
    return reportError(diag::Id::BadFlagValue,
                       "a picture goes to a .svg file, not '" +
                           options.picture + "'",
                       options.picture, "name it mask.svg");
  OutputFiles files;
  for (const Explanation &report : reports) {
    std::string name = report.kernel.name + "." + report.target->name.str();
    std::string path = reports.size() == 1 ? options.picture
                                           : (stem + "." + name + ".svg").str();
    std::string title = report.kernel.name + " on " + report.target->name.str();
    if (failed(
            files.add(path, BlockPicture(*report.map, cells).makeSvg(title))))
      return failure();
  }
  return files.commit();
}

LogicalResult Explainer::run() {
  bool json = options.json || llvm::is_contained(options.emit, "json");
  if (!options.emit.empty() && !json)
    return reportError(diag::Id::BadFlagValue,
                       "explain emits json, not '" + options.emit.front() + "'",
                       options.emit.front(), "use --emit=json");
  FailureOr<std::vector<const TargetInfo *>> targets =
      findTargets(options, {"cpu", "sm_80"});
  if (failed(targets))
    return failure();
  FailureOr<SpecFunctions> loaded =
      loadSpecFunctions(session, options, "explain");
  if (failed(loaded))
    return failure();
  module = std::move(loaded->module);
  specs = std::move(loaded->functions);
  for (const TargetInfo *target : *targets)
    if (failed(explainTarget(*target)))
      return failure();
  if (failed(writePictures()))
    return failure();

  if (json) {
    llvm::json::Array list;
    for (const Explanation &report : reports)
      list.push_back(report.toJson());
    llvm::outs() << llvm::formatv("{0:2}\n",
                                  llvm::json::Value(std::move(list)));
    return success();
  }
  for (const Explanation &report : reports) {
    if (&report != &reports.front())
      llvm::outs() << '\n';
    report.print(llvm::outs());
  }
  return success();
}

} // namespace

LogicalResult qm::driver::runExplain(Session &session, const Options &options) {
  if (isCode(options.input))
    return explainCode(options.input);
  return Explainer(session, options).run();
}
