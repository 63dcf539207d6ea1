// Which keys a mask leaves out for all queries alike.
#pragma once

#include "dialect/AttnOps.h"

#include <memory>

namespace qm::lowering {

/// The conditions that the masks of `loop` put on the key alone and that read a
/// captured buffer at the key, as `valid[b][j]` or `ids[j] >= 0` among others:
/// a region (key) -> i1 of its own that uses values from outside as the masks
/// do. Where it is false the key is padding: no row keeps it, and its values
/// may be anything, NaN perhaps, which times a probability of 0 would be NaN.
/// Null if there is no such condition.
std::unique_ptr<mlir::Region> conditionOnKeys(attn::KeyBlocksOp loop);

} // namespace qm::lowering
