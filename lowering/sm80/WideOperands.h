// Operands of 32 bits in matrix units that multiply narrower ones. Rows of f32
// lie in shared memory as 16-bit rows of twice the columns do (Layout.h), and
// each lane makes its operands from the elements it reads:
//
//   tf32    each element rounded to tf32; two m16n8k8 for 16 columns
//   bf16x3  x = high + low, both bf16; low b + a low + high high, three
//           m16n8k16 into one accumulator. What is left out is some 2^-17 of a
//           product.
//
// A product sums over its columns in any order, so that a lane's elements are
// paired as they come: of 8 columns lane l has l % 4 and l % 4 + 4 (what
// ldmatrix gives of 4-byte elements); of 8 keys, 2 (l % 4) and the next (where
// the probabilities are).
#pragma once

#include "lowering/sm80/KernelState.h"

namespace qm::sm80 {

/// The A operand of 16 rows at 16 columns `step`: `base` is the lane's part of
/// a row-major fragment, `bytes` the first row's place.
nvvm::Values readWideLeft(KernelState &state, Int base, int64_t bytes,
                          int rowBytes, unsigned step);
/// The B operands of 16 keys of a key tile at 16 columns `step`: keys 0-7, then
/// 8-15.
nvvm::Values readWideKeys(KernelState &state, Int base, int64_t bytes,
                          int rowBytes, unsigned step);

/// The B operands of 16 keys of a value tile at 16 columns `step`: columns 0-7,
/// then 8-15. `base` is the lane's wideValueElement.
nvvm::Values readWideValues(KernelState &state, Int base, int64_t bytes,
                            int rowBytes, unsigned step);

/// Probabilities as A operands.
Packed packWide(KernelState &state, Accumulator &tile);

/// d = a b + c for one 16x8 tile and 16 columns of a; c empty: zero.
nvvm::Values multiplyWide(KernelState &state, mlir::ValueRange a,
                          mlir::ValueRange bFragment, mlir::ValueRange c);

} // namespace qm::sm80
