//===- qmc.cpp - the command line -----------------------------------------===//
#include "qmc/Commands.h"
#include "qmc/Console.h"
#include "qmc/CrashReport.h"
#include "qmc/Interruption.h"

#include "llvm/Support/raw_ostream.h"

#include <exception>
#include <new>
#include <stdexcept>

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

static int run(int argc, char **argv) {
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
}

/// A result that did not reach its reader is no success.
static int closeOutput(int status) {
  llvm::outs().flush();
  std::error_code error = llvm::outs().error();
  if (!error)
    return status;
  llvm::outs().clear_error();
  (void)reportError(qm::diag::Id::CannotWrite,
                    "cannot write to standard output: " + error.message());
  return 1;
}

int main(int argc, char **argv) {
  initConsole(argc, argv);
  installCrashReport(commandLine());
  installInterruption();
  auto outOfMemory = [] {
    (void)reportError(qm::diag::Id::RuntimeOutOfMemory,
                      "there is not enough memory", "",
                      "give a smaller --batch, --sq or --skv");
    return 1;
  };
  try {
    return closeOutput(run(argc, argv));
  } catch (const std::bad_alloc &) {
    return outOfMemory();
  } catch (const std::length_error &) {
    return outOfMemory();
  } catch (const std::exception &error) {
    reportInternalError(error.what());
  }
}
