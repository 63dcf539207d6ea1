//===- RunCommand.cpp - qmc run -------------------------------------------===//
#include "qmc/CallData.h"
#include "qmc/Commands.h"
#include "qmc/Console.h"
#include "qmc/Machine.h"
#include "qmc/Npy.h"
#include "qmc/OutputFiles.h"
#include "qmc/SpecFunctions.h"
#include "qmc/Table.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/xxhash.h"

using namespace mlir;
using namespace qm;
using namespace qm::driver;
using lowering::TargetInfo;
using reference::TensorView;

namespace {

/// A number that changes with any bit of the results, whatever the layout.
std::string checksum(const CallData &data) {
  std::string bytes = makeNpy(data.o());
  for (const TensorView *statistic : {data.lse(), data.rowMax()})
    if (statistic)
      bytes += makeNpy(*statistic);
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
    if (data.rowMax())
      entries.emplace_back("row_max", makeNpy(*data.rowMax()));
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
  FailureOr<std::unique_ptr<Machine>> machine = Machine::open(options);
  if (failed(machine))
    return failure();
  FailureOr<std::vector<const TargetInfo *>> targets = (*machine)->targets();
  if (failed(targets))
    return failure();
  FailureOr<SpecFunctions> specs = loadSpecFunctions(session, options, "run");
  if (failed(specs))
    return failure();
  if (specs->functions.size() > 1 && !options.output.empty())
    return reportError(diag::Id::BadFlagValue,
                       "-o takes the results of one spec, the input has " +
                           llvm::Twine(specs->functions.size()),
                       "-o", "choose one with --spec");

  Layout layout = options.layout == "bhsd" ? Layout::Bhsd : Layout::Bshd;
  Table table({"spec", "target", "B", "Hq", "Hkv", "Sq", "Skv", "D", "Dv",
               "threads", "median ms", "best ms", "GFLOP/s", "checksum"});
  for (const TargetInfo *target : *targets) {
    FailureOr<std::unique_ptr<MachineCode>> code =
        (*machine)->compile(session, *specs->module, *target);
    if (failed(code))
      return failure();
    for (func::FuncOp spec : specs->functions) {
      FailureOr<reference::Reference> reference =
          reference::Reference::create(spec);
      if (failed(reference))
        return failure();
      FailureOr<CallData> data = session.timer.measure(
          "data", [&] { return CallData::create(spec, options, layout); });
      if (failed(data) || failed(reference->check(data->inputs())))
        return failure();
      FailureOr<std::unique_ptr<BoundCall>> call =
          (*code)->bind(spec.getName(), *data);
      if (failed(call) || failed((*call)->run()))
        return failure();
      FailureOr<Timing> timing = session.timer.measure(
          "run", [&] { return measure(**call, options.repeat); });
      if (failed(timing))
        return failure();
      auto counts = reference->countBlocks(data->inputs(), 128, 128);
      reference::Extents extents = reference->extentsOf(data->inputs());
      int64_t d = std::get<TensorView>(data->inputs()[0]).extents[3];
      int64_t dv = data->o().extents[3];
      double flops = 2.0 * counts.keptPairs * (d + dv);
      table.addRow(
          {spec.getName().str(), target->name.str(),
           std::to_string(extents.batch), std::to_string(extents.heads),
           std::to_string(extents.kvHeads), std::to_string(extents.query),
           std::to_string(extents.key), std::to_string(d), std::to_string(dv),
           (*machine)->threads(), threeDigits(timing->median * 1e3),
           threeDigits(timing->best * 1e3),
           threeDigits(flops / timing->median * 1e-9), checksum(*data)});
      if (failed(writeResults(*data, options)))
        return failure();
    }
  }
  if (options.json)
    table.printJson(llvm::outs());
  else
    table.print(llvm::outs());
  return success();
}
