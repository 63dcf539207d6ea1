// The passes of this folder.
#pragma once

#include "dialect/AttnOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Pass/Pass.h"

namespace qm::sm80 {
#define GEN_PASS_DECL
#include "lowering/sm80/Passes.h.inc"

#define GEN_PASS_REGISTRATION
#include "lowering/sm80/Passes.h.inc"
} // namespace qm::sm80
