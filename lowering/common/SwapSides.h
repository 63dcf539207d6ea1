// A comparison of integers read from its other side.
#pragma once

#include "mlir/Dialect/Arith/IR/Arith.h"

namespace qm::lowering {

/// The predicate of `b ? a` that says what `predicate` says of `a ? b`: slt
/// becomes sgt. For signed orders; any other is returned as it is.
mlir::arith::CmpIPredicate swapSides(mlir::arith::CmpIPredicate predicate);

} // namespace qm::lowering
