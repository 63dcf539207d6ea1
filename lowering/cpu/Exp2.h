//===- Exp2.h - base-2 exponential of a vector ------------------*- C++ -*-===//
#pragma once

#include "lowering/cpu/VectorBuilder.h"

namespace qm::cpu {

/// 2^x of a vector of f32 for x <= 127. At most 1 ulp off for x >= -126; below
/// that the result is 0, never a denormal; 2^-inf = 0, 2^0 = 1, 2^NaN = NaN.
mlir::Value emitExp2(VectorBuilder &b, mlir::Value x);

} // namespace qm::cpu
