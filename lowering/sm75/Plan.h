// What one kernel needs on sm_75, as numbers. The plan is that of
// lowering/sm80; how warps divide the tile, and what is refused, is this
// machine's.
#pragma once

#include "lowering/sm80/Plan.h"

namespace qm::sm75 {

/// Reads a scheduled kernel; reports what this machine cannot do.
mlir::FailureOr<sm80::Plan> getPlan(attn::KernelOp kernel);

} // namespace qm::sm75
