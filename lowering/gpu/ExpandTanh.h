// tanh in terms the GPU has.
#pragma once

#include "dialect/AttnOps.h"

#include "mlir/IR/PatternMatch.h"

namespace qm::gpu {

/// x p(x^2) with the least largest error as a tanh up to `tanhLimit`, 2.7e-7;
/// p from its highest coefficient down. The form for all x errs by up to 5e-7.
constexpr double tanhLimit = 0.32;
constexpr double tanhCoefficients[] = {0.1241675169, -0.3328732373,
                                       0.9999941836};

/// Expands every exact tanh of f32. `branches`: the target can take a branch
/// for many elements at a time, so that a usual case is worth its code.
void populateTanhPatterns(mlir::RewritePatternSet &patterns, bool branches);

/// Where a score ends in an exact tanh the factor of its exponent becomes one
/// of the tanh, whose expansion takes it for nothing.
void moveScaleToTanh(attn::KernelOp kernel);

} // namespace qm::gpu
