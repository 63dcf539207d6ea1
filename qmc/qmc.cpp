//===- qmc.cpp - the command line -----------------------------------------===//
#include "qmc/Commands.h"
#include "qmc/Console.h"
#include "qmc/CrashReport.h"

#include <exception>

using namespace qm::driver;

static llvm::LogicalResult dispatch(Session &session, const Options &options) {
  switch (options.command) {
  case Command::Build:
    return runBuild(session, options);
  case Command::Run:
    return runRun(session, options);
  case Command::Verify:
    return runVerify(session, options);
  case Command::Bench:
    return runBench(session, options);
  case Command::Tune:
    return runTune(session, options);
  case Command::Explain:
    return runExplain(session, options);
  }
  llvm_unreachable("covered switch");
}

int main(int argc, char **argv) {
  initConsole(argc, argv);
  installCrashReport(commandLine());
  try {
    int exitCode = 0;
    std::optional<Options> options = parseOptions(argc, argv, exitCode);
    if (!options)
      return exitCode;
    setVerbose(options->verbose);
    Session session;
    bool failed = llvm::failed(dispatch(session, *options));
    if (options->time)
      session.timer.print(llvm::errs());
    return failed ? 1 : 0;
  } catch (const std::exception &error) {
    reportInternalError(error.what());
  }
}
