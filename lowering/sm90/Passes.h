// The passes of this folder.
#pragma once

#include "dialect/AttnOps.h"
#include "mlir/Pass/Pass.h"

namespace qm::sm90 {
#define GEN_PASS_DECL
#include "lowering/sm90/Passes.h.inc"

/// Whether the kernel's schedule names a target of this lowering.
bool isForSm90(attn::KernelOp kernel);

#define GEN_PASS_REGISTRATION
#include "lowering/sm90/Passes.h.inc"
} // namespace qm::sm90
