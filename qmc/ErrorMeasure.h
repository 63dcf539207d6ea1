//===- ErrorMeasure.h - how far results are from the truth ------*- C++ -*-===//
#pragma once

#include "lowering/reference/Reference.h"

namespace qm::driver {

/// Distances from double precision. An infinity or NaN where the truth has
/// another value counts as an infinite error.
struct Errors {
  double maxAbs = 0; ///< of O
  double maxRel = 0; ///< of O, where |O| is at least 1 % of its largest
  double rms = 0;    ///< of O
  double lse = 0;    ///< largest, absolute
  double rowMax = 0; ///< largest, absolute
};

/// The largest errors that the numerics contract allows.
struct Bounds {
  double o = 0, lse = 0, rowMax = 0;
  bool accepts(const Errors &errors) const {
    return errors.maxAbs <= o && errors.lse <= lse && errors.rowMax <= rowMax;
  }
};

/// Results of a kernel in row-major order.
reference::Output readOutput(const reference::TensorView &o,
                             const reference::TensorView *lse,
                             const reference::TensorView *rowMax = nullptr);

/// `got.lse` and `got.rowMax` may be empty: then they are not measured.
Errors measureErrors(const reference::Output &got,
                     const reference::Output &truth);

/// Twice the yardstick's error. A tiny problem may be exact in the yardstick by
/// luck; what rounding the result itself may cost is therefore always allowed:
/// half an ulp of the output type at the largest |O| (four for f32, whose other
/// operations round as coarsely), four ulps of f32 at the largest statistic. So
/// is the rounding of P where it is an operand of another type than the output,
/// twice `operandRoundoff`.
Bounds makeBounds(const Errors &yardstick, const reference::Output &truth,
                  reference::DType outputType, double operandRoundoff = 0);

} // namespace qm::driver
