// What every NVIDIA matrix unit asks of #attn.precision.
#pragma once

#include "dialect/AttnOps.h"

namespace qm::lowering {

/// Operands and P of type `element`, everything else f32; QM0403 for the first
/// field that is not. `instruction` names the matrix instruction in the
/// message. A kernel without the attribute passes.
llvm::LogicalResult checkMatrixPrecision(attn::KernelOp kernel,
                                         mlir::Type element,
                                         llvm::StringRef instruction);

} // namespace qm::lowering
