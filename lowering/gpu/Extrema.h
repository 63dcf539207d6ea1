// attn.extrema: the least and the greatest of a range of elements.
#pragma once

#include "lowering/gpu/Arguments.h"

namespace qm::gpu {

/// All lanes of the warp come here together. `firsts` and `last` (i32) say
/// which elements; they may differ between lanes along the dimension of the
/// range, unless `lanesAgree`. The warp reads the elements of one lane after
/// the other, 32 neighbours at a time, two lanes' at once.
std::pair<mlir::Value, mlir::Value>
emitExtrema(LocBuilder &b, Arguments &arguments, attn::ExtremaOp op,
            mlir::ValueRange firsts, mlir::Value last, bool lanesAgree,
            int64_t maxElements = attn::ExtremaOp::maxElements);

} // namespace qm::gpu
