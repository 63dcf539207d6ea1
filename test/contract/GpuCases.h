//===- GpuCases.h - users' reports as case files ----------------*- C++ -*-===//
#pragma once

#include "mlir/Support/LLVM.h"

namespace qm::contract {

/// Compiles every case of rowCases() for `target` ("sm_80") in bf16 and f16 and
/// head dims 64 and 128, and writes PTX, manifest and case files that
/// qm-run-cases runs. Errors are printed.
mlir::LogicalResult writeGpuCases(llvm::StringRef folder,
                                  llvm::StringRef target);

} // namespace qm::contract
