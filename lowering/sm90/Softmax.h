// One step of the running softmax on a consumer's scores, in base 2.
#pragma once

#include "lowering/sm90/BlockScores.h"

namespace qm::sm90 {

/// The offset of a row without a key so far. Exponents of absent keys, -inf,
/// stay that, and any key raises the reference.
constexpr float unseen = 0x1p126f;

/// A thread has two rows; four lanes share each.
struct Statistics {
  Values max;    ///< where it is an output: the row maximum, else empty
  Values offset; ///< minus the reference of the exponents, in log2 units: what
                 ///< is added to one. The reference is the row maximum, or up
                 ///< to 2^8 below it; `unseen` for a row without a key so far
  Values sum; ///< of the thread's own elements; the four lanes' are added up at
              ///< the end
  Values alpha;     ///< what the accumulator has to be multiplied by before the
                    ///< next product is added
  mlir::Value grew; ///< i1, uniform in the warp: some alpha is not 1
};

/// Emitted in the middle of the exponentials, behind a point that ptxas moves
/// nothing across: the wait for a product that is to run that long, and what
/// goes on beside the other half of them.
using Midway = llvm::function_ref<void()>;

/// Whether the reference of the exponents stays, block after block, until a sum
/// says that it is far too low: bounded scores cannot make an exponential
/// overflow. No maximum is taken then but that of a tile's first block.
bool keepsReference(KernelState &state);

/// The first block of a tile: statistics from its scores alone.
Statistics startSoftmax(KernelState &state, BlockScores &scores, Midway midway);
/// A further block: raises the references where a row grew by more than 2^8, or
/// leaves all rows of the warp alone. Both replace the scores by their
/// probabilities.
void stepSoftmax(KernelState &state, BlockScores &scores,
                 Statistics &statistics, Midway midway);

/// Multiplies by alpha if any row needs it.
void rescale(KernelState &state, Fragment &accumulator,
             const Statistics &statistics);

/// Probabilities rounded to A operands, two in a register.
Values packProbabilities(KernelState &state, Fragment &p);

} // namespace qm::sm90
