// The passes of this folder.
#pragma once

#include "dialect/AttnOps.h"
#include "mlir/Pass/Pass.h"

namespace qm::sm90 {
#define GEN_PASS_DECL
#include "lowering/sm90/Passes.h.inc"

#define GEN_PASS_REGISTRATION
#include "lowering/sm90/Passes.h.inc"
} // namespace qm::sm90
