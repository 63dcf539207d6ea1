// How exact scores have to be.
#pragma once

#include "dialect/AttnOps.h"

namespace qm::lowering {

/// Whether scores reach results only through probabilities of 16 bits, which
/// hide an absolute error of a few units in the last place of 1: neither lse
/// nor row maximum is an output, and operands are no f32.
bool roundsScores(attn::KernelOp kernel);

} // namespace qm::lowering
