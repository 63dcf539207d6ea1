// The machine of this folder.
#pragma once

#include "lowering/sm80/Machine.h"

namespace qm::sm75 {

/// mma.sync m16n8k8 on f16, tiles by way of registers, two warps along the
/// keys.
const sm80::Machine &getTuring();

} // namespace qm::sm75
