// Exponentials on the FMA units: where a score function takes the
// special-function unit as well, that unit is what a step waits for, and part
// of its work can be done elsewhere.
#pragma once

#include "lowering/sm90/KernelState.h"

namespace qm::sm90 {

/// 1 + c1 f + ... + c5 f^5 with the least largest relative error of 2^f over
/// [-1/2, 1/2], 9.2e-8, and none at 0; from c5 down to c1.
constexpr float exp2Coefficients[] = {1.3264727290e-3f, 9.6715127148e-3f,
                                      5.5507337437e-2f, 2.4022242084e-1f,
                                      6.9314697760e-1f};

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
