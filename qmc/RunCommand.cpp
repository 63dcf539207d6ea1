//===- RunCommand.cpp - qmc run -------------------------------------------===//
#include "qmc/CallData.h"
#include "qmc/Commands.h"
#include "qmc/Console.h"
#include "qmc/CpuKernel.h"
#include "qmc/Npy.h"
#include "qmc/OutputFiles.h"
#include "qmc/SpecFunctions.h"
#include "qmc/SpecLoader.h"
#include "qmc/Table.h"

#include "runtime/ParallelTiles.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/xxhash.h"

#include <algorithm>

using namespace mlir;
using namespace qm;
using namespace qm::driver;
using lowering::TargetInfo;
using lowering::TargetKind;
using reference::TensorView;

namespace {

struct Timing {
  double median, best; ///< seconds
};

Timing measure(const CpuKernels &kernels, StringRef name,
               ArrayRef<reference::Argument> arguments,
               const Options &options) {
  std::vector<double> seconds;
  // One run to warm caches and threads, not counted.
  kernels.run(name, arguments, options.threads);
  for (unsigned run = 0; run < std::max(options.repeat, 1u); ++run) {
    auto start = PhaseTimer::Clock::now();
    kernels.run(name, arguments, options.threads);
    seconds.push_back(
        std::chrono::duration<double>(PhaseTimer::Clock::now() - start)
            .count());
  }
  llvm::sort(seconds);
  return {seconds[seconds.size() / 2], seconds.front()};
}

/// A number that changes with any bit of the results, whatever the layout.
std::string checksum(const CallData &data) {
  std::string bytes = makeNpy(data.o());
  if (data.lse())
    bytes += makeNpy(*data.lse());
  return llvm::utohexstr(llvm::xxh3_64bits(bytes), /*LowerCase=*/true,
                         /*Width=*/16);
}

LogicalResult writeResults(const CallData &data, const Options &options) {
  if (options.output.empty())
    return success();
  OutputFiles files;
  std::string bytes = makeNpy(data.o());
  if (StringRef(options.output).ends_with(".npz")) {
    std::vector<std::pair<std::string, std::string>> entries = {{"o", bytes}};
    if (data.lse())
      entries.emplace_back("lse", makeNpy(*data.lse()));
    bytes = makeNpz(entries);
  } else if (!StringRef(options.output).ends_with(".npy")) {
    return reportError(diag::Id::BadFlagValue,
                       "results go to a .npy or .npz file, not '" +
                           options.output + "'",
                       options.output, "name it o.npy, or results.npz");
  }
  if (failed(files.add(options.output, bytes)))
    return failure();
  return files.commit();
}

} // namespace

LogicalResult qm::driver::runRun(Session &session, const Options &options) {
  FailureOr<std::vector<const TargetInfo *>> targets =
      findTargets(options, {"cpu"});
  if (failed(targets))
    return failure();
  for (const TargetInfo *target : *targets)
    if (target->kind != TargetKind::Cpu)
      return reportError(diag::Id::TargetCannotRun,
                         target->name + " cannot run on this CPU", target->name,
                         "use --arch=cpu, or `qmc verify --arch=" +
                             target->name + " --dump-case DIR`");
  FailureOr<OwningOpRef<ModuleOp>> module = loadSpecs(session, options);
  if (failed(module))
    return failure();
  FailureOr<SmallVector<func::FuncOp>> specs =
      getSpecFunctions(**module, options, "run");
  if (failed(specs))
    return failure();
  if (specs->size() > 1 && !options.output.empty())
    return reportError(diag::Id::BadFlagValue,
                       "-o takes the results of one spec, the input has " +
                           llvm::Twine(specs->size()),
                       "-o", "choose one with --spec");

  Layout layout = options.layout == "bhsd" ? Layout::Bhsd : Layout::Bshd;
  CompilePipeline pipeline(session, options);
  Table table({"spec", "target", "B", "Hq", "Hkv", "Sq", "Skv", "D", "Dv",
               "threads", "median ms", "best ms", "GFLOP/s", "checksum"});
  for (const TargetInfo *target : *targets) {
    FailureOr<CpuKernels> kernels =
        CpuKernels::compile(pipeline, session, **module, *target);
    if (failed(kernels))
      return failure();
    for (func::FuncOp spec : *specs) {
      FailureOr<reference::Reference> reference =
          reference::Reference::create(spec);
      if (failed(reference))
        return failure();
      FailureOr<CallData> data = session.timer.measure(
          "data", [&] { return CallData::create(spec, options, layout); });
      if (failed(data) || failed(reference->check(data->inputs())))
        return failure();
      Timing timing = session.timer.measure("run", [&] {
        return measure(*kernels, spec.getName(), data->inputsAndOutputs(),
                       options);
      });
      auto counts = reference->countBlocks(data->inputs(), 128, 128);
      reference::Extents extents = reference->extentsOf(data->inputs());
      int64_t d = std::get<TensorView>(data->inputs()[0]).extents[3];
      int64_t dv = data->o().extents[3];
      double flops = 2.0 * counts.keptPairs * (d + dv);
      unsigned threads =
          options.threads ? options.threads : runtime::defaultThreadCount();
      table.addRow(
          {spec.getName().str(), target->name.str(),
           std::to_string(extents.batch), std::to_string(extents.heads),
           std::to_string(extents.kvHeads), std::to_string(extents.query),
           std::to_string(extents.key), std::to_string(d), std::to_string(dv),
           std::to_string(threads), threeDigits(timing.median * 1e3),
           threeDigits(timing.best * 1e3),
           threeDigits(flops / timing.median * 1e-9), checksum(*data)});
      if (failed(writeResults(*data, options)))
        return failure();
    }
  }
  table.print(llvm::outs());
  return success();
}
