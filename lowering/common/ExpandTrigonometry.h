// sin and cos of f32, scalars or vectors, within 1.3 2^-24 up to |x| = 10^6
// with a fused multiply-add, and up to 10^4 without. Scores take them of
// distances, i - j, which are that large; MLIR's own polynomials lose 3e-8 |x|.
#pragma once

#include "mlir/IR/PatternMatch.h"

namespace qm::lowering {

/// `fused`: whether math.fma rounds once on the target.
void populateTrigonometryPatterns(mlir::RewritePatternSet &patterns,
                                  bool fused);

} // namespace qm::lowering
