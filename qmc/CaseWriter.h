//===- CaseWriter.h - cases for a machine with a GPU ------------*- C++ -*-===//
#pragma once

#include "qmc/CallData.h"
#include "qmc/ErrorMeasure.h"
#include "qmc/Session.h"

namespace qm::driver {

/// Builds the kernels of the input for the GPU targets of --arch (sm_80 if
/// there is none) into the folder of --dump-case, with the manifest that cases
/// name.
mlir::LogicalResult writeCaseKernels(Session &session, const Options &options);

/// Writes one call with its true results and bounds beside the kernels, for
/// runtime/tools to run.
mlir::LogicalResult writeCase(mlir::func::FuncOp spec, const CallData &data,
                              const reference::Output &truth,
                              const Bounds &bounds, Layout layout,
                              const Options &options);

} // namespace qm::driver
