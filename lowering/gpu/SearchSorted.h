// attn.search: where a value belongs in a sorted buffer.
#pragma once

#include "lowering/gpu/Arguments.h"

namespace qm::gpu {

/// All lanes of the warp search together, with the same operands: 32 elements a
/// step, so that 2^20 take four loads one after the other and not twenty. In a
/// buffer that is not sorted it ends as well, with some index of it or 2^30.
mlir::Value emitSearch(LocBuilder &b, Arguments &arguments, attn::SearchOp op,
                       mlir::ValueRange indices, mlir::Value value);

} // namespace qm::gpu
