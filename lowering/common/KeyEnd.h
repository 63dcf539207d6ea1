// What the end of a key loop's bounds means.
#pragma once

#include "mlir/IR/Region.h"

namespace qm::lowering {

/// Whether the last key of `bounds` is a length that a captured buffer holds,
/// past which memory may hold anything, NaN perhaps. Otherwise every key below
/// Skv is one, as between packed documents, and the end only saves work: what a
/// search in a sorted buffer finds is no length.
bool endsAtLength(mlir::Region &bounds);

} // namespace qm::lowering
