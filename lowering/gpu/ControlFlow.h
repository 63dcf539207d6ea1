// Branches and loops of the program being emitted, with their bodies as
// functions.
#pragma once

#include "lowering/nvvm/NVVMEmit.h"

namespace qm::gpu {
using nvvm::LocBuilder;
using nvvm::Values;

/// Emits `then` where the condition holds.
void emitIf(LocBuilder &b, mlir::Value condition,
            llvm::function_ref<void()> then);
/// scf.if that yields what `then` returns, or `otherwise`.
Values emitIf(LocBuilder &b, mlir::Value condition, mlir::ValueRange otherwise,
              llvm::function_ref<Values()> then);
/// scf.if that yields values of `types`: what `then` returns, or `otherwise`.
Values emitEither(LocBuilder &b, mlir::Value condition, mlir::TypeRange types,
                  llvm::function_ref<Values()> then,
                  llvm::function_ref<Values()> otherwise);
/// scf.while whose carried values start as `inits`; `condition` and `body` see
/// the current ones, `body` returns the next.
Values emitWhile(LocBuilder &b, mlir::ValueRange inits,
                 llvm::function_ref<mlir::Value(mlir::ValueRange)> condition,
                 llvm::function_ref<Values(mlir::ValueRange)> body);

} // namespace qm::gpu
