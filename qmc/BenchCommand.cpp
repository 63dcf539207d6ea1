//===- BenchCommand.cpp - qmc bench ---------------------------------------===//
#include "qmc/BenchPicture.h"
#include "qmc/BenchSuite.h"
#include "qmc/CallData.h"
#include "qmc/Commands.h"
#include "qmc/Console.h"
#include "qmc/Machine.h"
#include "qmc/OutputFiles.h"
#include "qmc/SpecFunctions.h"
#include "qmc/Table.h"
#include "qmc/TempFolder.h"

#include "lowering/ptx/Ptxas.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/MemoryBuffer.h"

#include <ctime>
#include <set>

using namespace mlir;
using namespace qm;
using namespace qm::driver;
using lowering::TargetInfo;
using reference::TensorView;

namespace {

/// TFLOP/s of each peer, by cell.
using Peers = std::map<std::string, std::map<std::string, double>>;

FailureOr<Peers> readPeers(StringRef path) {
  Peers peers;
  if (path.empty())
    return peers;
  auto buffer = llvm::MemoryBuffer::getFile(path);
  if (!buffer)
    return reportError(diag::Id::CannotRead,
                       "cannot read '" + path +
                           "': " + buffer.getError().message(),
                       path, "test/perf/gpu_peers.py writes it");
  llvm::Expected<llvm::json::Value> root =
      llvm::json::parse((*buffer)->getBuffer());
  auto bad = [&](const llvm::Twine &why) {
    return reportError(diag::Id::BadFlagValue, "'" + path + "': " + why, path,
                       "a row is {\"cell\": NAME, \"peer\": NAME, "
                       "\"tflops\": N}");
  };
  if (!root)
    return bad(llvm::toString(root.takeError()));
  if (!root->getAsArray())
    return bad("is no list of rows");
  for (const llvm::json::Value &value : *root->getAsArray()) {
    const llvm::json::Object *row = value.getAsObject();
    auto cell = row ? row->getString("cell") : std::nullopt;
    auto peer = row ? row->getString("peer") : std::nullopt;
    auto rate = row ? row->getNumber("tflops") : std::nullopt;
    if (!cell || !peer || !rate || *rate <= 0)
      return bad("a row lacks a field");
    peers[cell->str()][peer->str()] = *rate;
  }
  return peers;
}

/// What is timed on one target: a spec at some extents.
struct Item {
  std::string cell;
  func::FuncOp spec;
  std::optional<BenchCell> of; ///< the suite's
};

class Bench {
public:
  Bench(Session &session, const Options &options)
      : session(session), options(options) {}
  LogicalResult run();

private:
  LogicalResult loadSuite();
  LogicalResult dumpKernels();
  LogicalResult load();
  LogicalResult timeOn(const TargetInfo &target);
  LogicalResult timeItem(const Item &item, const TargetInfo &target,
                         MachineCode &code);
  void addRow(const Item &item, const TargetInfo &target, Timing timing,
              double flops);
  LogicalResult readRows();
  LogicalResult writeResults();

  Session &session;
  Options options; ///< with the suite's text as input
  std::optional<BenchSuite> suite;
  std::optional<TempFolder> folder; ///< of the suite's text
  std::unique_ptr<Machine> machine;
  Peers peers;
  std::vector<std::string> peerNames;
  OwningOpRef<ModuleOp> module;
  std::vector<Item> items;
  std::optional<Table> table;
  llvm::json::Array results;
};

/// Puts the suite's specs where a spec is read from.
LogicalResult Bench::loadSuite() {
  if (!options.input.empty())
    return reportError(diag::Id::BadFlagValue,
                       "--suite brings its own specs, and there is also '" +
                           options.input + "'",
                       options.input, "leave out one of them");
  FailureOr<BenchSuite> loaded = BenchSuite::load(options.suite);
  if (failed(loaded))
    return failure();
  suite = std::move(*loaded);
  llvm::erase_if(suite->cells, [&](const BenchCell &cell) {
    return !StringRef(cell.name()).contains(options.cells);
  });
  if (suite->cells.empty())
    return reportError(diag::Id::BadSuite,
                       "no cell of '" + options.suite + "' has '" +
                           options.cells + "' in its name",
                       options.cells,
                       "names are like 'bf16 B4 Hq16 Hkv16 S4096 D128 causal'");
  FailureOr<TempFolder> made = TempFolder::create();
  if (failed(made))
    return failure();
  folder.emplace(std::move(*made));
  options.input = folder->file(suite->name + ".mlir");
  OutputFiles files;
  if (failed(files.add(options.input, suite->specText())))
    return failure();
  return files.commit();
}

/// Kernels, their manifest, and the cells with the kernel of each.
LogicalResult Bench::dumpKernels() {
  if (!suite)
    return reportError(diag::Id::BadFlagValue,
                       "--dump-kernels writes the kernels of a --suite",
                       "--dump-kernels",
                       "for the kernels of a file use `qmc build`");
  Options build = options;
  build.command = Command::Build;
  build.output = options.dumpKernels + "/" + suite->name;
  build.emit = {"ptx", "json"};
  if (ptx::findPtxas(options.ptxas).empty())
    reportNote("no ptxas here, so PTX only; the GPU's driver compiles it");
  else
    build.emit.push_back("cubin");
  if (build.arch.empty())
    build.arch = {"sm_80"};
  if (failed(runBuild(session, build)))
    return failure();
  llvm::json::Array cells;
  for (const BenchCell &cell : suite->cells)
    cells.push_back(cell.toJson());
  llvm::json::Object barPeers;
  for (const auto &[target, peer] : suite->barPeers)
    barPeers[target] = peer;
  llvm::json::Array targets(build.arch);
  llvm::json::Object root{{"suite", suite->name},
                          {"manifest", suite->name + ".json"},
                          {"targets", std::move(targets)},
                          {"bar_peers", std::move(barPeers)},
                          {"cells", std::move(cells)}};
  OutputFiles files;
  std::string text =
      llvm::formatv("{0:1}\n", llvm::json::Value(std::move(root)));
  if (failed(files.add(build.output + ".cells.json", text)))
    return failure();
  return files.commit();
}

LogicalResult Bench::load() {
  FailureOr<SpecFunctions> loaded =
      loadSpecFunctions(session, options, "bench");
  if (failed(loaded))
    return failure();
  module = std::move(loaded->module);
  if (!suite)
    for (func::FuncOp spec : loaded->functions)
      items.push_back({spec.getName().str(), spec, std::nullopt});
  else
    for (const BenchCell &cell : suite->cells)
      items.push_back({cell.name(),
                       module->lookupSymbol<func::FuncOp>(cell.kernel()),
                       cell});
  return success();
}

LogicalResult Bench::timeItem(const Item &item, const TargetInfo &target,
                              MachineCode &code) {
  Options call = options;
  if (item.of) {
    call.batch = item.of->batch;
    call.sq = item.of->sq;
    call.skv = item.of->skv;
  }
  Layout layout = options.layout == "bhsd" ? Layout::Bhsd : Layout::Bshd;
  func::FuncOp spec = item.spec;
  FailureOr<reference::Reference> reference =
      reference::Reference::create(spec);
  if (failed(reference))
    return failure();
  FailureOr<CallData> data = session.timer.measure(
      "data", [&] { return CallData::create(spec, call, layout); });
  if (failed(data) || failed(reference->check(data->inputs())))
    return failure();
  FailureOr<std::unique_ptr<BoundCall>> bound =
      code.bind(spec.getName(), *data);
  if (failed(bound))
    return failure();
  FailureOr<Timing> timing = session.timer.measure(
      "run", [&] { return measure(**bound, options.repeat); });
  if (failed(timing))
    return failure();
  double flops = item.of ? item.of->flops() : 0;
  if (flops == 0) {
    auto counts = reference->countBlocks(data->inputs(), 128, 128);
    flops = 2.0 * counts.keptPairs *
            (std::get<TensorView>(data->inputs()[0]).extents[3] +
             data->o().extents[3]);
  }
  addRow(item, target, *timing, flops);
  return success();
}

void Bench::addRow(const Item &item, const TargetInfo &target, Timing timing,
                   double flops) {
  double rate = flops / timing.median * 1e-12;
  std::vector<std::string> row = {item.cell,
                                  target.name.str(),
                                  threeDigits(timing.median * 1e3),
                                  threeDigits(timing.best * 1e3),
                                  threeDigits(rate),
                                  threeDigits(flops / timing.best * 1e-12)};
  double best = 0;
  llvm::json::Object peerRates;
  for (const std::string &peer : peerNames) {
    const auto &rates = peers[item.cell];
    auto found = rates.find(peer);
    row.push_back(found == rates.end() ? "-" : threeDigits(found->second));
    if (found == rates.end())
      continue;
    best = std::max(best, found->second);
    peerRates[peer] = found->second;
  }
  if (!peerNames.empty())
    row.push_back(best > 0 ? threeDigits(rate / best) : "-");
  double limit = machine->limitTflops(), clock = machine->clockMHz();
  if (limit > 0) {
    row.push_back(llvm::formatv("{0:f0} %", 100 * rate / limit));
    row.push_back(clock > 0 ? llvm::formatv("{0:f0}", clock).str() : "-");
  }
  table->addRow(std::move(row));

  std::time_t now = std::time(nullptr);
  char date[16];
  std::strftime(date, sizeof date, "%Y-%m-%d", std::localtime(&now));
  StringRef group = suite ? StringRef(suite->name) : StringRef("bench");
  llvm::json::Value ratio = nullptr;
  if (best > 0)
    ratio = rate / best;
  results.push_back(llvm::json::Object{
      {"suite", (group + " " + target.name).str()},
      {"cell", item.cell},
      {"metric", "rate"},
      {"unit", "TFLOP/s"},
      {"ours", rate},
      {"peers", std::move(peerRates)},
      {"ratio", std::move(ratio)},
      {"bar", nullptr},
      {"gpu", machine->name()},
      {"sm_mhz",
       clock > 0 ? llvm::json::Value(clock) : llvm::json::Value(nullptr)},
      {"driver", nullptr},
      {"commit", "qmc " QM_VERSION},
      // A string of its own: JSON values only refer to characters.
      {"date", std::string(date)}});
}

LogicalResult Bench::timeOn(const TargetInfo &target) {
  FailureOr<std::unique_ptr<MachineCode>> code =
      machine->compile(session, *module, target);
  if (failed(code))
    return failure();
  for (const Item &item : items) {
    reportProgress("times " + item.cell + " on " + machine->name());
    if (failed(timeItem(item, target, **code)))
      return failure();
  }
  return success();
}

/// Rows that were measured elsewhere.
LogicalResult Bench::readRows() {
  auto buffer = llvm::MemoryBuffer::getFile(options.times);
  if (!buffer)
    return reportError(diag::Id::CannotRead,
                       "cannot read '" + options.times +
                           "': " + buffer.getError().message(),
                       options.times, "test/perf/*.py and --results write it");
  llvm::Expected<llvm::json::Value> root =
      llvm::json::parse((*buffer)->getBuffer());
  llvm::json::Array *rows = root ? root->getAsArray() : nullptr;
  if (!root)
    llvm::consumeError(root.takeError());
  if (!rows)
    return reportError(diag::Id::BadFlagValue,
                       "'" + options.times + "' is no list of rows",
                       options.times,
                       "a row is {\"cell\": NAME, \"unit\": \"TFLOP/s\", "
                       "\"ours\": N, \"peers\": {NAME: N}}");
  results = std::move(*rows);
  return success();
}

LogicalResult Bench::writeResults() {
  OutputFiles files;
  if (!options.picture.empty()) {
    FailureOr<std::string> picture = makeBenchPicture(results);
    if (failed(picture))
      return reportError(diag::Id::BadFlagValue,
                         "a row of '" + options.times +
                             "' lacks \"cell\" or \"ours\"",
                         options.times, "qmc bench --results writes such rows");
    if (failed(files.add(options.picture, *picture)))
      return failure();
  }
  std::string text =
      llvm::formatv("{0:1}\n", llvm::json::Value(std::move(results)));
  if (!options.results.empty() && failed(files.add(options.results, text)))
    return failure();
  return files.commit();
}

LogicalResult Bench::run() {
  if (!options.picture.empty() && !StringRef(options.picture).ends_with(".svg"))
    return reportError(diag::Id::BadFlagValue,
                       "a picture goes to a .svg file, not '" +
                           options.picture + "'",
                       options.picture, "name it cells.svg");
  if (!options.suite.empty() && failed(loadSuite()))
    return failure();
  if (!options.dumpKernels.empty())
    return dumpKernels();
  if (!options.times.empty())
    return failed(readRows()) ? failure() : writeResults();
  FailureOr<std::unique_ptr<Machine>> opened = Machine::open(options);
  if (failed(opened))
    return failure();
  machine = std::move(*opened);
  FailureOr<std::vector<const TargetInfo *>> targets = machine->targets();
  FailureOr<Peers> read = readPeers(options.peers);
  if (failed(targets) || failed(read) || failed(load()))
    return failure();
  peers = std::move(*read);
  std::set<std::string> names;
  for (const auto &[cell, rates] : peers)
    for (const auto &[peer, rate] : rates)
      names.insert(peer);
  peerNames.assign(names.begin(), names.end());

  std::vector<std::string> header = {"cell",    "target",  "median ms",
                                     "best ms", "TFLOP/s", "best TFLOP/s"};
  llvm::append_range(header, peerNames);
  if (!peerNames.empty())
    header.push_back("ratio");
  if (machine->limitTflops() > 0)
    llvm::append_range(header, std::vector<std::string>{"of limit", "SM MHz"});
  table.emplace(std::move(header));
  for (const TargetInfo *target : *targets)
    if (failed(timeOn(*target)))
      return failure();
  if (options.json) {
    table->printJson(llvm::outs());
  } else {
    llvm::outs() << "on " << machine->name() << ":\n";
    table->print(llvm::outs());
  }
  return writeResults();
}

} // namespace

LogicalResult qm::driver::runBench(Session &session, const Options &options) {
  return Bench(session, options).run();
}
