// The maximum of each row of a block's scores.
#pragma once

#include "lowering/sm90/BlockScores.h"

namespace qm::sm90 {

/// Maxima of the thread's two rows over all their lanes, row terms added; those
/// of a warp are right unless `uncertain` (i1) holds in one of its threads.
struct QuickMaxima {
  Values maxima;
  mlir::Value uncertain;
};
/// Three scores an instruction, by the order of their bits.
QuickMaxima quickRowMaxima(KernelState &state, const BlockScores &scores);
/// For scores of any sign.
Values exactRowMaxima(KernelState &state, const BlockScores &scores);
/// The quick maxima, or the exact ones in a branch of their own.
Values rowMaxima(KernelState &state, const BlockScores &scores);

} // namespace qm::sm90
