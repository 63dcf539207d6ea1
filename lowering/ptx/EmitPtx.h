// From the LLVM and NVVM dialects to PTX text, by LLVM's NVPTX back end.
#pragma once

#include "mlir/IR/BuiltinOps.h"

#include <string>

namespace qm::ptx {

struct PtxOptions {
  std::string target = "sm_80"; ///< a name of lowering/common/TargetInfo
  /// Seconds spent, if not null.
  struct Times {
    double translate = 0, optimize = 0, codegen = 0;
  } *times = nullptr;
  /// The optimised LLVM IR, if not null.
  std::string *llvmIr = nullptr;
};

/// PTX of `module`, whose dialects are LLVM and NVVM only. Errors are reported
/// at the module. The PTX version is the target's (TargetInfo); denormals are
/// flushed, as ex2.approx.ftz does.
mlir::FailureOr<std::string> emitPtx(mlir::ModuleOp module,
                                     const PtxOptions &options);

} // namespace qm::ptx
