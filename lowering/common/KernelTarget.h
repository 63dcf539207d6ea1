// The target that a kernel's schedule names.
#pragma once

#include "dialect/AttnOps.h"
#include "lowering/common/TargetInfo.h"

namespace qm::lowering {

/// Null before a schedule is chosen, and where it names no known target.
const TargetInfo *getTarget(attn::KernelOp kernel);

} // namespace qm::lowering
