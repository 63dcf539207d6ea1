//===- Extrema.h - least and greatest of a range of elements ----*- C++ -*-===//
#pragma once

#include "lowering/cpu/ArgumentSlots.h"

namespace qm::cpu {

/// attn.extrema: a loop over the elements between `indices` and `last` (i32,
/// clamped to the buffer).
std::pair<mlir::Value, mlir::Value>
emitExtrema(VectorBuilder &b, attn::ExtremaOp op, const TensorSlots &buffer,
            llvm::ArrayRef<mlir::Value> indices, mlir::Value last);

} // namespace qm::cpu
