//===- Jit.h - CPU kernels compiled in this process -------------*- C++ -*-===//
#pragma once

#include "lowering/common/TargetInfo.h"

#include "mlir/IR/BuiltinOps.h"

#include <cstdint>
#include <memory>

namespace llvm::orc {
class LLJIT;
}

namespace qm::cpu {

/// The CPU entry of the launch contract (lowering/README.md).
using TileEntry = void (*)(const int64_t *slots, int64_t tileBegin,
                           int64_t tileEnd);

/// Owns machine code; entries are valid while it lives. Lookups are
/// thread-safe.
class Jit {
public:
  /// Compiles the llvm.func of a module that buildCpuPipeline has lowered.
  /// Errors are reported, among them a function for a wider CPU level than
  /// `host`.
  static mlir::FailureOr<Jit>
  compile(mlir::ModuleOp module,
          const lowering::TargetInfo &host = *lowering::findTarget("cpu"));

  /// The entry of kernel `name`, or null if there is none.
  TileEntry lookup(llvm::StringRef name) const;

  Jit(Jit &&);
  Jit &operator=(Jit &&);
  ~Jit();

private:
  explicit Jit(std::unique_ptr<llvm::orc::LLJIT> engine);
  std::unique_ptr<llvm::orc::LLJIT> engine;
};

} // namespace qm::cpu
