// One step of the running softmax on a warp's scores, in base 2.
//
// The statistics are kept the way the inner loop wants them:
//   max   minus the reference of the exponent in log2 units, `unseen` while no
//   key was seen. The reference is the row maximum
//         or up to 2^8 below it: as long as no element of the warp exceeds it
//         by more, nothing is rescaled and no lane asks another (a vote
//         decides).
//   sum   of the thread's own elements; the four lanes of a row add theirs up
//   when the loop is over.
#pragma once

#include "lowering/sm80/KernelState.h"

#include <limits>

namespace qm::sm80 {

/// The factor of the exponent: exp2_scale, or log2 e.
float exponentFactor(std::optional<llvm::APFloat> exp2Scale);

struct SoftmaxStatistics {
  Rows max, sum;
};

/// Finite: the exponent -inf + inf of a key that is masked would be NaN.
inline constexpr float unseen = std::numeric_limits<float>::max();

/// Raises the reference where needed and rescales the sums and `accumulators`
/// with it.
void updateReference(KernelState &state, Accumulator &scores, float factor,
                     SoftmaxStatistics &statistics,
                     llvm::ArrayRef<Accumulator *> accumulators);

/// Replaces the scores by their probabilities and adds them to the sums.
void exponentiate(KernelState &state, Accumulator &scores, float factor,
                  SoftmaxStatistics &statistics);

/// Rounds to A operands.
Packed packOperands(KernelState &state, mlir::Type element, Accumulator &tile);

} // namespace qm::sm80
