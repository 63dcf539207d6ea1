// What the verifiers of spec and kernel operators share: what a region written
// as a lambda may hold, and the form of lengths.
#pragma once

#include "dialect/AssemblyFormat.h"

namespace qm::attn {

/// Arguments, operations and result of `region`; an empty region passes. `what`
/// names it in messages ("a mask region").
llvm::LogicalResult verifyLambda(mlir::Operation *op, mlir::Region &region,
                                 Lambda kind, llvm::StringRef what);

/// Lengths of sequences are two arguments of `block` or none; `packed` needs
/// tensors with a batch extent of 1.
llvm::LogicalResult verifyLengths(mlir::Operation *op, mlir::Block *block,
                                  mlir::ValueRange lengths, bool packed,
                                  mlir::TypeRange tensors);

} // namespace qm::attn
