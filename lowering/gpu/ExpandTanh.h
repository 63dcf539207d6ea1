// tanh in terms the GPU has.
#pragma once

#include "dialect/AttnOps.h"

#include "mlir/IR/PatternMatch.h"

namespace qm::gpu {

/// x p(x^2) is tanh for |x| up to `limit`; p from its highest coefficient down.
struct TanhPolynomial {
  double limit;
  llvm::ArrayRef<double> coefficients;
};

/// With the least largest error, 2.7e-7. The form for all x errs by up to 5e-7.
constexpr double shortTanhCoefficients[] = {0.1241675169, -0.3328732373,
                                            0.9999941836};
inline const TanhPolynomial shortTanh{0.32, shortTanhCoefficients};

/// With the least largest relative error, 4.1e-8.
constexpr double exactTanhCoefficients[] = {-0.0491485, 0.13299825, -0.33332663,
                                            1.0};
inline const TanhPolynomial exactTanh{0.35, exactTanhCoefficients};

struct TanhUse {
  /// The target can take a branch for many elements at a time, so that a usual
  /// case is worth its code.
  bool branches;
  /// Scores reach results only through probabilities of 16 bits, which hide an
  /// absolute error of a few units in the last place of 1.
  bool roundedScores;
};

/// Expands every exact tanh of f32.
void populateTanhPatterns(mlir::RewritePatternSet &patterns, TanhUse use);

/// Where a score ends in an exact tanh the factor of its exponent becomes one
/// of the tanh, whose expansion takes it for nothing.
void moveScaleToTanh(attn::KernelOp kernel);

} // namespace qm::gpu
