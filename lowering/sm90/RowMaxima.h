// The maximum of each row of a block's scores.
#pragma once

#include "lowering/sm90/KernelState.h"

namespace qm::sm90 {

/// Of the thread's two rows, over all their lanes; row terms are part of them.
Values rowMaxima(KernelState &state, const BlockScores &scores);

} // namespace qm::sm90
