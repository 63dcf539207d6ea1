// Exponentials on the FMA units: where a score function takes the
// special-function unit as well, that unit is what a step waits for, and part
// of its work can be done elsewhere.
#pragma once

#include "lowering/sm90/KernelState.h"

namespace qm::sm90 {

/// Whether element `e` of a fragment is one of the `ofSixteen` of 16, which are
/// spread evenly.
constexpr bool isPolynomial(unsigned e, int64_t ofSixteen) {
  return (e + 1) * ofSixteen / 16 != e * ofSixteen / 16;
}

/// 2^x for |x| <= `range`, within 1.7e-7 of it (ex2.approx: 2.4e-7). `masked`:
/// or -inf, which becomes 0. Below 2^-125 the result is 2^-125.
mlir::Value polynomialExp2(KernelState &state, mlir::Value x, float range,
                           bool masked);

} // namespace qm::sm90
