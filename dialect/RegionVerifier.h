// What a region written as a lambda may hold: shared by the verifiers of spec
// and kernel operators.
#pragma once

#include "dialect/AssemblyFormat.h"

namespace qm::attn {

/// Arguments, operations and result of `region`; an empty region passes. `what`
/// names it in messages ("a mask region").
llvm::LogicalResult verifyLambda(mlir::Operation *op, mlir::Region &region,
                                 Lambda kind, llvm::StringRef what);

} // namespace qm::attn
