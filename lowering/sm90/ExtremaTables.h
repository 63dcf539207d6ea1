// Extrema of captured buffers by key block, in shared memory that the pipeline
// leaves free. Everyone who classifies a block looks them up: producer,
// scheduler and consumers, for every query tile.
#pragma once

#include "lowering/sm90/KernelState.h"

namespace qm::sm90 {

/// The extrema of the mask's intervals whose range is a block of keys; those of
/// other ranges are read where they are needed.
llvm::SmallVector<attn::ExtremaOp> getTabledExtrema(attn::KeyBlocksOp loop);

/// All threads, before the roles part: reads each buffer once and fills its
/// table. A barrier has to follow. A table has an entry for each block in each
/// row of the buffer (a batch entry, say); where that is too many, one for 2,
/// 4,
/// ... blocks, which is sound and less exact, and none for more rows than
/// entries.
void fillExtremaTables(KernelState &state);

/// Least and greatest of the block of keys that `op` is asked for; `indices` as
/// emitted. Nothing if `op` has no table.
std::optional<std::pair<mlir::Value, mlir::Value>>
readExtremaTable(KernelState &state, attn::ExtremaOp op,
                 mlir::ValueRange indices);

} // namespace qm::sm90
