//===- TuneCommand.cpp - qmc tune -----------------------------------------===//
//
// Times a grid of schedules of a spec at the caller's shape, with the caller's
// mask and buffers, and writes the fastest for `qmc build --schedules`. Where
// the GPU is on another machine the candidates are written to a folder, timed
// there, and the times read back.
//
//===----------------------------------------------------------------------===//
#include "qmc/CallData.h"
#include "qmc/Commands.h"
#include "qmc/Console.h"
#include "qmc/Machine.h"
#include "qmc/OutputFiles.h"
#include "qmc/ScheduleFile.h"
#include "qmc/SpecFunctions.h"
#include "qmc/Table.h"

#include "lowering/ptx/Ptxas.h"
#include "passes/TuningGrid.h"

#include "llvm/Support/FormatVariadic.h"

using namespace mlir;
using namespace qm;
using namespace qm::driver;
using lowering::TargetInfo;

namespace {

class Tune {
public:
  Tune(Session &session, const Options &options)
      : session(session), options(options) {}
  LogicalResult run();

private:
  LogicalResult load();
  /// Whether the schedule can be made for the spec; says nothing if not.
  bool fits(func::FuncOp spec, const TargetInfo &target,
            const passes::ScheduleOverrides &overrides);
  Options withOverrides(func::FuncOp spec,
                        const passes::ScheduleOverrides &overrides) const;
  LogicalResult dumpCandidates();
  LogicalResult timeHere();
  LogicalResult timeSpec(Machine &machine, func::FuncOp spec,
                         const TargetInfo &target);
  LogicalResult report();

  Session &session;
  Options options;
  OwningOpRef<ModuleOp> module;
  SmallVector<func::FuncOp> specs;
  std::vector<TimedSchedule> rows;
};

LogicalResult Tune::load() {
  FailureOr<SpecFunctions> loaded = loadSpecFunctions(session, options, "tune");
  if (failed(loaded))
    return failure();
  module = std::move(loaded->module);
  specs = std::move(loaded->functions);
  return success();
}

Options Tune::withOverrides(func::FuncOp spec,
                            const passes::ScheduleOverrides &overrides) const {
  Options changed = options;
  changed.spec = spec.getName().str();
  llvm::append_range(changed.overrides, overrides);
  return changed;
}

/// A module with one spec of `module`.
OwningOpRef<ModuleOp> isolate(ModuleOp module, func::FuncOp spec) {
  OwningOpRef<ModuleOp> copy(module.clone());
  for (auto function : llvm::to_vector(copy->getOps<func::FuncOp>()))
    if (function.getName() != spec.getName())
      function.erase();
  return copy;
}

bool Tune::fits(func::FuncOp spec, const TargetInfo &target,
                const passes::ScheduleOverrides &overrides) {
  ScopedDiagnosticHandler quiet(&session.context,
                                [](Diagnostic &) { return success(); });
  Options changed = withOverrides(spec, overrides);
  CompilePipeline pipeline(session, changed);
  OwningOpRef<ModuleOp> one = isolate(*module, spec);
  auto scheduled = pipeline.lowerTo(*one, passes::Level::Scheduled, target);
  return succeeded(scheduled) &&
         succeeded(pipeline.lowerToGpu(**scheduled, target,
                                       /*wantCubin=*/false));
}

LogicalResult Tune::dumpCandidates() {
  FailureOr<std::vector<const TargetInfo *>> targets =
      findTargets(options, {"sm_80"});
  if (failed(targets))
    return failure();
  llvm::json::Array candidates;
  for (const TargetInfo *target : *targets)
    for (func::FuncOp spec : specs)
      for (auto [number, overrides] :
           llvm::enumerate(passes::getTuningGrid(*target))) {
        if (!fits(spec, *target, overrides))
          continue;
        std::string folder =
            llvm::formatv("{0}.{1}.{2}", spec.getName(), target->name, number);
        reportProgress("writes " + folder);
        Options build = withOverrides(spec, overrides);
        build.command = Command::Build;
        build.arch = {target->name.str()};
        build.emit = {"ptx", "json"};
        if (!ptx::findPtxas(options.ptxas).empty())
          build.emit.push_back("cubin");
        build.output = options.dumpKernels + "/" + folder + "/kernel";
        if (failed(runBuild(session, build)))
          return failure();
        candidates.push_back(
            llvm::json::Object{{"spec", spec.getName()},
                               {"target", target->name},
                               {"folder", folder},
                               {"set", llvm::json::Array(overrides)}});
      }
  OutputFiles files;
  std::string text =
      llvm::formatv("{0:1}\n", llvm::json::Value(std::move(candidates)));
  if (failed(files.add(options.dumpKernels + "/candidates.json", text)))
    return failure();
  return files.commit();
}

LogicalResult Tune::timeSpec(Machine &machine, func::FuncOp spec,
                             const TargetInfo &target) {
  Layout layout = options.layout == "bhsd" ? Layout::Bhsd : Layout::Bshd;
  FailureOr<CallData> data = session.timer.measure(
      "data", [&] { return CallData::create(spec, options, layout); });
  if (failed(data))
    return failure();
  for (const passes::ScheduleOverrides &overrides :
       passes::getTuningGrid(target)) {
    if (!fits(spec, target, overrides))
      continue;
    TimedSchedule row{spec.getName().str(), target.name.str(), overrides, 0, {},
                      machine.name()};
    reportProgress("times " + row.spec + ": " + row.title());
    Options changed = withOverrides(spec, overrides);
    OwningOpRef<ModuleOp> one = isolate(*module, spec);
    FailureOr<std::unique_ptr<Machine>> opened = Machine::open(changed);
    if (failed(opened))
      return failure();
    FailureOr<std::unique_ptr<MachineCode>> code =
        (*opened)->compile(session, *one, target);
    if (failed(code))
      return failure();
    FailureOr<std::unique_ptr<BoundCall>> bound =
        (*code)->bind(spec.getName(), *data);
    if (failed(bound))
      return failure();
    FailureOr<Timing> timing = session.timer.measure(
        "run", [&] { return measure(**bound, options.repeat); });
    if (failed(timing))
      return failure();
    row.milliseconds = timing->median * 1e3;
    auto extent = [&](unsigned argument, unsigned dimension) {
      return std::get<reference::TensorView>(data->inputs()[argument])
          .extents[dimension];
    };
    row.call = llvm::json::Object{
        {"batch", extent(0, 0)}, {"sq", extent(0, 2)}, {"skv", extent(1, 2)}};
    rows.push_back(std::move(row));
  }
  return success();
}

LogicalResult Tune::timeHere() {
  FailureOr<std::unique_ptr<Machine>> machine = Machine::open(options);
  if (failed(machine))
    return failure();
  FailureOr<std::vector<const TargetInfo *>> targets = (*machine)->targets();
  if (failed(targets))
    return failure();
  for (const TargetInfo *target : *targets)
    for (func::FuncOp spec : specs)
      if (failed(timeSpec(**machine, spec, *target)))
        return failure();
  return success();
}

/// The table of all rows, and the fastest as a file.
LogicalResult Tune::report() {
  std::vector<TimedSchedule> fastest = getFastest(rows);
  Table table({"spec", "target", "ms", "speed", "", "schedule"});
  for (const TimedSchedule &row : rows) {
    auto alike = [&](const TimedSchedule &other) {
      return other.spec == row.spec && other.target == row.target;
    };
    const TimedSchedule &first = *llvm::find_if(rows, alike);
    const TimedSchedule &best = *llvm::find_if(fastest, alike);
    table.addRow({row.spec, row.target, threeDigits(row.milliseconds),
                  threeDigits(first.milliseconds / row.milliseconds),
                  best.overrides == row.overrides ? "<" : "", row.title()});
  }
  if (options.json)
    table.printJson(llvm::outs());
  else
    table.print(llvm::outs());
  if (options.output.empty())
    return success();
  OutputFiles files;
  if (failed(files.add(options.output,
                       llvm::formatv("{0:1}\n", toJson(fastest)).str())))
    return failure();
  return files.commit();
}

LogicalResult Tune::run() {
  if (!options.times.empty()) {
    FailureOr<std::vector<TimedSchedule>> read =
        readTimedSchedules(options.times);
    if (failed(read))
      return failure();
    rows = std::move(*read);
    return report();
  }
  if (failed(load()))
    return failure();
  if (!options.dumpKernels.empty())
    return dumpCandidates();
  options.target = "gpu";
  if (failed(timeHere()))
    return failure();
  return report();
}

} // namespace

LogicalResult qm::driver::runTune(Session &session, const Options &options) {
  return Tune(session, options).run();
}
