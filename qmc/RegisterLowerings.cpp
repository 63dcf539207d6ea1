// Registers the dialects and passes of every machine.
#include "qmc/RegisterLowerings.h"

void qm::driver::registerLoweringDialects(mlir::DialectRegistry &registry) {}

void qm::driver::registerLoweringPasses() {}
