// From two warps that share rows to one.
#pragma once

#include "lowering/sm80/Machine.h"

namespace qm::sm75 {

/// Adds the accumulators and statistics of the warps with the second half of
/// every key block to those with the first, by way of shared memory. The former
/// end here.
void mergeKeyWarps(sm80::KernelState &state, sm80::Accumulator &accumulator,
                   sm80::SoftmaxStatistics &statistics);

} // namespace qm::sm75
