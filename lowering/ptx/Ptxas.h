// NVIDIA's assembler, ptxas: finding it and running it.
#pragma once

#include "lowering/ptx/PtxasReport.h"

#include "mlir/IR/Location.h"
#include "mlir/Support/LLVM.h"

#include "llvm/Support/Error.h"

#include <string>
#include <vector>

namespace qm::ptx {

/// Path of ptxas: `explicitPath` (a file or its folder) if given, else
/// QM_PTXAS, PATH, CUDA_HOME/bin, CUDA_PATH/bin, /usr/local/cuda/bin, the
/// newest /usr/local/cuda-*/bin. Empty if there is none; `searched` then says
/// where it looked.
std::string findPtxas(llvm::StringRef explicitPath,
                      std::vector<std::string> *searched = nullptr);

struct PtxasOptions {
  std::string path; ///< as in findPtxas
  std::string target =
      "sm_80"; ///< machine code for; may be later than the PTX's target
  std::vector<std::string> flags; ///< passed on
};

struct Assembled {
  std::string cubin;
  PtxasReport report;
};

/// Assembles PTX text. Errors (ptxas not found, or it refuses) are reported at
/// `loc`.
mlir::FailureOr<Assembled>
assemble(llvm::StringRef ptx, const PtxasOptions &options, mlir::Location loc);

/// Writes `bytes` beside `path` and renames: there is never half a file at
/// `path`.
llvm::Error writeAtomically(llvm::StringRef path, llvm::StringRef bytes);

} // namespace qm::ptx
