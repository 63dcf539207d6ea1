//===- SearchSorted.h - where a value belongs in a buffer -------*- C++ -*-===//
#pragma once

#include "lowering/cpu/ArgumentSlots.h"

namespace qm::cpu {

/// attn.search by halving: `indices` (i32, clamped to the buffer) choose the
/// row, `value` is i32. In a buffer that is not sorted it ends as well, with
/// some index of it or 2^30.
mlir::Value emitSearch(VectorBuilder &b, attn::SearchOp op,
                       const TensorSlots &buffer,
                       llvm::ArrayRef<mlir::Value> indices, mlir::Value value);

} // namespace qm::cpu
