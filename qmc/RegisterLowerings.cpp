// Registers the dialects and passes of every machine.
#include "qmc/RegisterLowerings.h"
#include "lowering/cpu/Pipeline.h"
#include "lowering/gpu/Pipeline.h"
#include "lowering/sm75/Pipeline.h"
#include "lowering/sm80/Pipeline.h"
#include "lowering/sm90/Pipeline.h"

void qm::driver::registerLoweringDialects(mlir::DialectRegistry &registry) {
  cpu::registerCpuDialects(registry);
  gpu::registerGpuDialects(registry);
}

void qm::driver::registerLoweringPasses() {
  cpu::registerCpuPasses();
  gpu::registerGpuPasses();
  sm75::registerSm75Passes();
  sm80::registerSm80Passes();
  sm90::registerSm90Passes();
}
