// Whether a mask can be shown to keep no pair at all, whatever the lengths.
#pragma once

#include "mlir/IR/Region.h"

namespace qm::passes {

/// True if the predicate that the mask region yields is never true: in each of
/// its alternatives two or more linear conditions on indices, lengths, scalars
/// and loaded elements exclude each other. False where that is not seen.
/// Integers are taken for numbers that do not wrap, so the answer is good for a
/// warning and not for dropping the mask.
bool keepsNothing(mlir::Region &mask);

} // namespace qm::passes
