//===- Options.cpp - what the command line asks for -----------------------===//
#include "qmc/Options.h"
#include "qmc/BenchSuite.h"
#include "qmc/Console.h"
#include "qmc/NearestName.h"
#include "qmc/Version.h"

#include <CLI/CLI.hpp>

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/raw_ostream.h"

using namespace llvm;
using namespace qm;
using namespace qm::driver;

namespace {

constexpr const char *examples = R"(
Examples:
  qmc build layer.cpp --arch=sm_80,cpu -o out/     cubin, PTX, object and manifest of every spec
  qmc build layer.cpp --emit=tiled -o -            the IR at a level, on standard output
  qmc build a.cpp b.cpp --emit=lib -o out/attn --arch=x86-64-v3,sm_80,sm_90a --dtype=bf16,f16
                                                   libattn.a, libattn.so, attn.h, attn.json
  qmc run layer.cpp --sq=4096 --param window=256   run on this CPU, time and checksum
  qmc run layer.cpp --target=gpu                   the same on this machine's GPU
  qmc verify layer.mlir                            error table against double precision
  qmc bench --suite=published --target=gpu         TFLOP/s of the cells that others have published
  qmc explain layer.cpp --arch=sm_80 --sq=8192     schedule, resources, block counts, roofline
  qmc explain layer.cpp --picture=mask.svg         which blocks the mask needs
  qmc explain QM0203                               the long text of a diagnostic

Environment: QM_PTXAS (as --ptxas), QM_CXX (as --cxx), QM_CACHE_DIR (as --cache-dir),
QM_CUDA_DRIVER (instead of libcuda.so.1), NO_COLOR.
Exit status: 0 success, 1 an error of the input, 2 an internal error (a reproducer is written).
)";

constexpr const char *emitHelp =
    "Outputs: spec, online, tiled, fused, typed, scheduled, llvm, ptx, cubin, "
    "obj, json;\nlib (static and shared library, header, manifest), archive, "
    "shared\n(default: ptx, cubin and json for a GPU; obj and json for a "
    "CPU)";

/// Comma-separated, repeatable, one word a flag: `--arch=a,b --arch c file`.
CLI::Option *addList(CLI::App &app, const char *name,
                     std::vector<std::string> &into, const char *help,
                     const char *value) {
  return app.add_option(name, into, help)
      ->delimiter(',')
      ->allow_extra_args(false)
      ->type_name(value);
}

/// Repeatable NAME=VALUE, where a comma is part of the value.
CLI::Option *addAssignments(CLI::App &app, const char *name,
                            std::vector<std::string> &into, const char *help,
                            const char *value) {
  return app.add_option(name, into, help)
      ->allow_extra_args(false)
      ->type_name(value);
}

void addInput(CLI::App &app, Options &options, const char *help) {
  app.add_option("input", options.input, help)->type_name("FILE");
}

void addCompileFlags(CLI::App &app, Options &options) {
  app.add_option("--spec", options.spec, "Only the spec of this name")
      ->type_name("NAME");
  addList(
      app, "--arch", options.arch,
      "Targets: cpu (this machine's level), x86-64-v3, x86-64-v4, sm_80, ...",
      "LIST");
  addAssignments(app, "--set", options.overrides,
                 "Override a decision: precision.p=f32, schedule.tile_n=32",
                 "KEY=VALUE");
  app.add_option("--schedules", options.schedules,
                 "Schedules that `qmc tune` chose; --set goes before them")
      ->type_name("FILE");
  app.add_option("--ptxas", options.ptxas, "The ptxas to use")
      ->type_name("PATH");
  app.add_option("--cxx", options.cxx, "Host compiler for a .cpp spec")
      ->type_name("PATH");
  addAssignments(app, "-I", options.includes,
                 "Include folder for a .cpp spec (repeatable)", "DIR");
  app.add_flag_callback(
      "-v,--verbose", [&options] { options.verbose = true; },
      "Say what is done");
  app.add_flag("--time", options.time, "Wall time of each phase");
}

void addCallFlags(CLI::App &app, Options &options) {
  const char *group = "The call";
  auto grouped = [&](CLI::Option *option) { return option->group(group); };
  grouped(app.add_option("--batch", options.batch, "Batch (default 1)"))
      ->type_name("N");
  grouped(app.add_option("--sq", options.sq, "Query length (default 1024)"))
      ->type_name("N");
  grouped(app.add_option("--skv", options.skv, "Key length (default: --sq)"))
      ->type_name("N");
  grouped(addAssignments(app, "--input", options.inputs,
                         "Data of an argument from a .npy file", "NAME=FILE"));
  grouped(addAssignments(app, "--param", options.params,
                         "Value of a run-time scalar", "NAME=VALUE"));
  grouped(addAssignments(app, "--extent", options.extents,
                         "Run-time extents of a buffer", "NAME=N[,N]"));
  grouped(app.add_option("--seed", options.seed, "Seed of the random data"))
      ->type_name("N");
  grouped(app.add_option("--threads", options.threads,
                         "Threads (default: all cores)"))
      ->type_name("N");
}

void addWhere(CLI::App &app, Options &options) {
  const char *group = "Where to run";
  app.add_option("--target", options.target,
                 "This CPU, or this machine's GPU (default cpu)")
      ->check(CLI::IsMember({"cpu", "gpu"}))
      ->type_name("cpu|gpu")
      ->group(group);
  app.add_option("--device", options.device, "Which GPU (default 0)")
      ->type_name("N")
      ->group(group);
  app.add_flag("--json", options.json,
               "The table as JSON: an object a row, values as printed");
}

void addLayout(CLI::App &app, Options &options, const char *help) {
  app.add_option("--layout", options.layout, help)
      ->check(CLI::IsMember({"bshd", "bhsd"}))
      ->type_name("bshd|bhsd")
      ->group("The call");
}

void addOutput(CLI::App &app, Options &options, const char *help) {
  app.add_option("-o,--output", options.output, help)->type_name("PATH");
}

void addLibraryFlags(CLI::App &build, Options &options) {
  const char *group = "A library (--emit=lib, archive or shared)";
  addList(
      build, "--dtype", options.dtypes,
      "Element types of q, k, v and o: bf16, f16, f32 (default: the spec's)",
      "LIST")
      ->group(group);
  build
      .add_option("--head-dim", options.headDims,
                  "Head dims (default: the spec's)")
      ->delimiter(',')
      ->allow_extra_args(false)
      ->type_name("LIST")
      ->check(CLI::Range(1, 1 << 16))
      ->group(group);
  addList(build, "--heads", options.heads,
          "Head counts, query x key/value: 32x8,32x32 (default: the spec's)",
          "LIST")
      ->group(group);
  addAssignments(build, "--variant", options.variants,
                 "One more kernel, for some calls: "
                 "'decode:query<=64:sm_80/schedule.tile_m=64' (default: "
                 "those worth having by length; none: no more)",
                 "NAME:CONDITIONS:SETTINGS")
      ->group(group);
  build
      .add_option("--cache-dir", options.cacheDir,
                  "Keep what is compiled here, and use what is there")
      ->type_name("DIR")
      ->group(group);
  build
      .add_option("-j,--jobs", options.jobs,
                  "Kernels compiled at a time (default: all cores)")
      ->type_name("N")
      ->group(group);
  build
      .add_option("--depfile", options.depfile,
                  "Write what was read here, for make, ninja and CMake")
      ->type_name("FILE")
      ->group(group);
}

CLI::App *addBuild(CLI::App &app, Options &options) {
  CLI::App *build = app.add_subcommand("build", "Compile specs");
  build
      ->add_option("input", options.files,
                   "A .cpp spec, or a .mlir at any level (- : stdin); several "
                   "for a library")
      ->type_name("FILE");
  build->add_flag("--list-specs", options.listSpecs, "List the specs and stop");
  addList(*build, "--emit", options.emit, emitHelp, "LIST");
  addOutput(*build, options,
            "A file, or for several outputs a folder (ending in /) or a stem; "
            "- : stdout\n(default: the current folder)");
  addCompileFlags(*build, options);
  addLibraryFlags(*build, options);
  return build;
}

CLI::App *addRun(CLI::App &app, Options &options) {
  CLI::App *run = app.add_subcommand("run", "Run specs on this CPU or GPU");
  addInput(*run, options, "A .cpp or .mlir file");
  addCompileFlags(*run, options);
  addWhere(*run, options);
  addCallFlags(*run, options);
  addLayout(*run, options, "Memory layout of q, k, v and o (default bshd)");
  run->add_option("--repeat", options.repeat, "Timed runs (default 5)")
      ->type_name("N")
      ->group("The call");
  addOutput(*run, options,
            "Write o to a .npy, or o, lse and row_max to a .npz");
  return run;
}

CLI::App *addVerify(CLI::App &app, Options &options) {
  CLI::App *verify =
      app.add_subcommand("verify", "Check specs against double precision");
  addInput(*verify, options, "A .cpp or .mlir file");
  addCompileFlags(*verify, options);
  addWhere(*verify, options);
  addCallFlags(*verify, options);
  addLayout(*verify, options, "Only this memory layout (default: both)");
  verify
      ->add_option("--dump-case", options.dumpCase,
                   "Also write arguments and expected results here")
      ->type_name("DIR");
  return verify;
}

CLI::App *addBench(CLI::App &app, Options &options) {
  CLI::App *bench = app.add_subcommand(
      "bench", "Time specs: those of a file, or the cells of a suite");
  addInput(*bench, options, "A .cpp or .mlir file, unless there is --suite");
  addCompileFlags(*bench, options);
  addWhere(*bench, options);
  addCallFlags(*bench, options);
  addLayout(*bench, options, "Memory layout of q, k, v and o (default bshd)");
  const char *group = "What to measure";
  bench
      ->add_option("--suite", options.suite,
                   "A named list of cells (" + suiteNames() + "), or a .json")
      ->type_name("NAME")
      ->group(group);
  bench
      ->add_option("--cells", options.cells,
                   "Only cells with this in their name, e.g. 'D128 causal'")
      ->type_name("TEXT")
      ->group(group);
  bench->add_option("--repeat", options.repeat, "Timed runs (default 5)")
      ->type_name("N")
      ->group(group);
  bench
      ->add_option("--peers", options.peers,
                   "What others reach, as test/perf/gpu_peers.py writes it")
      ->type_name("FILE")
      ->group(group);
  bench
      ->add_option("--results", options.results,
                   "Write rows for test/perf/results here")
      ->type_name("FILE")
      ->group(group);
  bench
      ->add_option("--times", options.times,
                   "Time nothing: read rows of the form of --results, measured "
                   "elsewhere")
      ->type_name("FILE")
      ->group(group);
  bench
      ->add_option("--picture", options.picture,
                   "Draw the rows as bars, by cell")
      ->type_name("FILE.svg")
      ->group(group);
  bench
      ->add_option("--dump-kernels", options.dumpKernels,
                   "Time nothing: write the suite's kernels and cells here, "
                   "for a machine without this compiler")
      ->type_name("DIR")
      ->group(group);
  return bench;
}

CLI::App *addTune(CLI::App &app, Options &options) {
  CLI::App *tune = app.add_subcommand(
      "tune", "Time schedules of specs on a GPU, and choose the fastest");
  addInput(*tune, options, "A .cpp or .mlir file, unless there is --times");
  addCompileFlags(*tune, options);
  addCallFlags(*tune, options);
  addLayout(*tune, options, "Memory layout of q, k, v and o (default bshd)");
  tune->add_option("--device", options.device, "Which GPU (default 0)")
      ->type_name("N");
  tune->add_flag("--json", options.json,
                 "The table as JSON: an object a row, values as printed");
  const char *group = "What to measure";
  tune->add_option("--repeat", options.repeat, "Timed runs (default 5)")
      ->type_name("N")
      ->group(group);
  tune->add_option("--dump-kernels", options.dumpKernels,
                   "Time nothing: write the candidates here, for "
                   "test/perf/time_candidates.py on a machine with a GPU")
      ->type_name("DIR")
      ->group(group);
  tune->add_option("--times", options.times,
                   "Times of candidates, as time_candidates.py writes them")
      ->type_name("FILE")
      ->group(group);
  addOutput(*tune, options, "Write the choice, for --schedules");
  return tune;
}

CLI::App *addExplain(CLI::App &app, Options &options) {
  CLI::App *explain = app.add_subcommand(
      "explain", "Say what was decided and what to expect; or explain a code");
  addInput(*explain, options, "A .cpp or .mlir file, or a code such as QM0203");
  addCompileFlags(*explain, options);
  addCallFlags(*explain, options);
  explain->add_flag("--json", options.json, "The report as JSON");
  addList(*explain, "--emit", options.emit, "json: the same as --json", "json");
  explain
      ->add_option("--picture", options.picture,
                   "Also draw the mask's blocks, full, partial and empty")
      ->type_name("FILE.svg");
  return explain;
}

/// The long and short names of every flag of `app`.
std::vector<std::string> flagNames(const CLI::App &app) {
  std::vector<std::string> names;
  for (const CLI::Option *option : app.get_options()) {
    for (const std::string &name : option->get_lnames())
      names.push_back("--" + name);
    for (const std::string &name : option->get_snames())
      names.push_back("-" + name);
  }
  return names;
}

/// An argument that nothing took: an unknown flag or command, or one file too
/// many.
void reportExtra(const CLI::App &app, const CLI::App *sub,
                 ArrayRef<std::string> extras) {
  const auto *flag =
      find_if(extras, [](StringRef text) { return text.starts_with("-"); });
  StringRef extra = flag != extras.end() ? *flag : extras.front();
  StringRef name = extra.split('=').first;
  std::string help;
  if (extra.starts_with("-")) {
    std::string nearest = nearestName(name, flagNames(sub ? *sub : app));
    help = nearest.empty() ? "`qmc " + (sub ? sub->get_name() + " " : "") +
                                 "--help` lists the flags"
                           : "did you mean '" + nearest + "'?";
    (void)reportError(diag::Id::UnknownFlag, "unknown flag '" + name + "'",
                      name, help);
    return;
  }
  if (sub) {
    (void)reportError(diag::Id::UnknownFlag,
                      "more than one input: '" + extra + "'", extra,
                      "give one .cpp or .mlir file at a time");
    return;
  }
  std::string nearest =
      nearestName(name, {"build", "run", "verify", "bench", "tune", "explain"});
  (void)reportError(
      diag::Id::UnknownFlag, "unknown command '" + name + "'", name,
      nearest.empty() ? "the commands are build, run, verify, bench, tune "
                        "and explain"
                      : "did you mean '" + nearest + "'?");
}

} // namespace

std::optional<Options> qm::driver::parseOptions(int argc, char **argv,
                                                int &exitCode) {
  Options options;
  CLI::App app("qmc, the QiMeng attention compiler", "qmc");
  app.footer(examples);
  app.set_help_flag("-h,--help", "Print this help");
  bool version = false;
  app.add_flag("--version", version,
               "Versions of qmc, LLVM and the ptxas that is found");
  std::pair<CLI::App *, Command> commands[] = {
      {addBuild(app, options), Command::Build},
      {addRun(app, options), Command::Run},
      {addVerify(app, options), Command::Verify},
      {addBench(app, options), Command::Bench},
      {addTune(app, options), Command::Tune},
      {addExplain(app, options), Command::Explain}};
  std::string saveTemps, printIrAfter;
  for (auto [sub, command] : commands) {
    sub->footer(examples);
    sub->add_flag("--save-temps{.}", saveTemps,
                  "Keep every intermediate file here, or in =DIR")
        ->type_name("[=DIR]");
    sub->add_flag("--print-ir-after{*}", printIrAfter,
                  "Print the IR after each pass, or after =PASS")
        ->type_name("[=PASS]");
  }

  exitCode = 1;
  auto current = [&]() -> CLI::App * {
    auto subs = app.get_subcommands();
    return subs.empty() ? nullptr : subs.front();
  };
  try {
    app.parse(argc, argv);
  } catch (const CLI::CallForHelp &) {
    exitCode = 0;
    outs() << (current() ? current()->help() : app.help());
    return std::nullopt;
  } catch (const CLI::ExtrasError &) {
    reportExtra(app, current(), app.remaining(/*recurse=*/true));
    return std::nullopt;
  } catch (const CLI::ParseError &error) {
    // "--sq: ..." or "Could not convert: --sq = abc": point at the flag.
    StringRef what = error.what();
    size_t dash = what.find('-');
    StringRef flag =
        dash == StringRef::npos ? "" : what.substr(dash).take_until([](char c) {
          return c == ':' || c == ' ';
        });
    (void)reportError(diag::Id::BadFlagValue, what, flag,
                      "`qmc " + (current() ? current()->get_name() + " " : "") +
                          "--help` says what it takes");
    return std::nullopt;
  }
  if (version) {
    exitCode = 0;
    printVersion(outs());
    return std::nullopt;
  }
  if (!current()) {
    (void)reportError(
        diag::Id::UnknownFlag, "no command given", "",
        "say build, run, verify, bench, tune or explain; `qmc --help` shows "
        "examples");
    return std::nullopt;
  }
  for (auto [sub, command] : commands)
    if (sub == current())
      options.command = command;
  if (!saveTemps.empty())
    options.saveTemps = saveTemps;
  if (!printIrAfter.empty())
    options.printIrAfter = printIrAfter;
  if (!options.files.empty())
    options.input = options.files.front();
  if (options.input.empty() && options.suite.empty() && options.times.empty()) {
    (void)reportError(diag::Id::CannotRead, "no input file given", "",
                      options.command == Command::Bench
                          ? "name a .cpp spec or a .mlir file, or a suite: "
                            "--suite=" +
                                suiteNames()
                          : "name a .cpp spec or a .mlir file");
    return std::nullopt;
  }
  return options;
}

mlir::FailureOr<std::pair<std::string, std::string>>
qm::driver::splitAssignment(StringRef text, StringRef flag) {
  auto [name, value] = text.split('=');
  if (name.empty() || value.empty())
    return reportError(diag::Id::BadFlagValue,
                       flag + " takes NAME=VALUE, not '" + text + "'", text,
                       "write " + flag + " name=value");
  return std::pair(name.str(), value.str());
}
