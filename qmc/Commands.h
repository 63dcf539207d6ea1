//===- Commands.h - the subcommands of qmc ----------------------*- C++ -*-===//
#pragma once

#include "qmc/Options.h"
#include "qmc/Session.h"

namespace qm::driver {

/// Each reports its errors; failure means exit status 1.
mlir::LogicalResult runBuild(Session &session, const Options &options);
mlir::LogicalResult runRun(Session &session, const Options &options);
mlir::LogicalResult runVerify(Session &session, const Options &options);
mlir::LogicalResult runBench(Session &session, const Options &options);
mlir::LogicalResult runTune(Session &session, const Options &options);
mlir::LogicalResult runExplain(Session &session, const Options &options);

} // namespace qm::driver
