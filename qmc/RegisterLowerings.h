// Registers the dialects and passes of every machine: the one place that names
// them all.
#pragma once

#include "mlir/IR/DialectRegistry.h"

namespace qm::driver {

void registerLoweringDialects(mlir::DialectRegistry &registry);
void registerLoweringPasses();

} // namespace qm::driver
