//===- GpuCases.h - users' reports as case files ----------------*- C++ -*-===//
#pragma once

#include "mlir/Support/LLVM.h"
#include "llvm/ADT/StringRef.h"

namespace qm::contract {

/// Compiles every case of rowCases() for `target` ("sm_80") in the types of its
/// matrix unit, head dims 64 and 128 (or those of the case), and on sm_80 both
/// schedules; writes PTX, manifest and case files that qm-run-cases runs.
/// Only cases whose names begin with `prefix`. Errors are printed.
mlir::LogicalResult writeGpuCases(llvm::StringRef folder,
                                  llvm::StringRef target,
                                  llvm::StringRef prefix = "");

} // namespace qm::contract
