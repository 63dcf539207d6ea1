// `--set part.field=value`: one syntax for every decision that a pass records
// as an attribute.
#pragma once

#include "mlir/IR/Operation.h"

#include <string>

namespace qm::passes {

struct Override {
  llvm::StringRef field, value;
  llvm::StringRef text; ///< as written, for messages
};

/// The overrides of one part ("precision") for the kernel `where`: those of
/// every kernel, and those that begin with its name ("f:schedule.tile_n=96"). A
/// text that is no override, or of a
/// part that does not exist, is an error at `where` (QM0302).
mlir::FailureOr<llvm::SmallVector<Override>>
selectOverrides(mlir::Operation *where, llvm::ArrayRef<std::string> texts,
                llvm::StringRef part);

/// Errors for a field that the part lacks, and for a value that the field
/// cannot take.
mlir::LogicalResult rejectField(mlir::Operation *where,
                                const Override &override,
                                llvm::StringRef fields);
mlir::LogicalResult rejectValue(mlir::Operation *where,
                                const Override &override,
                                const llvm::Twine &allowed);

} // namespace qm::passes
