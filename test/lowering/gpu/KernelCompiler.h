// Compiles the specs of test/data/sm80 to PTX and cubin, for tests of the sm_80
// lowering.
#pragma once

#include "lowering/common/KernelInfo.h"
#include "lowering/ptx/EmitPtx.h"
#include "lowering/ptx/Ptxas.h"

#include "mlir/IR/MLIRContext.h"

namespace qm::test {

struct Shape {
  std::string element = "bf16"; ///< or f16
  int headDim = 128, valueDim = 128;
  int heads = 4, kvHeads = 2;
  std::vector<std::string> overrides; ///< "schedule.tile_n=32"
  std::string target = "sm_80";
};

struct CompiledKernel {
  lowering::KernelInfo info;
  std::string ptx;
  double passes = 0; ///< seconds from spec to the LLVM dialect
  ptx::PtxOptions::Times times;
};

class KernelCompiler {
public:
  KernelCompiler();

  /// The text of test/data/sm80/`name`.mlir for a shape.
  static std::string specText(llvm::StringRef name, const Shape &shape);
  /// Compiles spec text; failure after an error was printed.
  mlir::FailureOr<CompiledKernel> compile(llvm::StringRef text,
                                          const Shape &shape);
  /// Assembles for `target`, which may be later than the shape's.
  mlir::FailureOr<ptx::Assembled> assemble(const CompiledKernel &kernel,
                                           llvm::StringRef target);

private:
  mlir::MLIRContext context;
};

} // namespace qm::test
