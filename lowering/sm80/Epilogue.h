// From the loop's results to global memory.
#pragma once

#include "lowering/sm80/Machine.h"

namespace qm::sm80 {

/// Divides the accumulator by the row sums (0 where the sum is 0) and makes of
/// the statistics the rows' lse. `sink`: one more logit of every row, f32 in
/// natural units; null: none.
Rows normalize(KernelState &state, Accumulator &accumulator,
               const SoftmaxStatistics &statistics, mlir::Value sink);

/// The rows' maxima in natural units.
Rows naturalMax(KernelState &state, const SoftmaxStatistics &statistics);

/// Stores a tile, rounded to the tensor's 16-bit type, by way of the warp's own
/// rows of the query tile: 16 bytes a thread. The caller has made sure that no
/// one uses the query tile any more.
void storeTile(KernelState &state, Accumulator &tile, attn::StoreTileOp store);

/// Stores one f32 a row.
void storeRows(KernelState &state, const Rows &rows, attn::StoreTileOp store);

} // namespace qm::sm80
