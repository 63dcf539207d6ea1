// The pipeline of the sm_75 lowering.
#include "lowering/sm75/Pipeline.h"

#include "lowering/sm75/Passes.h"
#include "lowering/sm80/Passes.h"
#include "lowering/sm80/Pipeline.h"

#include "mlir/Pass/PassManager.h"
#include "mlir/Pass/PassRegistry.h"

using namespace mlir;
using namespace qm;

void sm75::buildSm75Pipeline(OpPassManager &manager) {
  // Element-wise regions are the same on all NVIDIA targets.
  manager.addNestedPass<attn::KernelOp>(sm80::createExpandSm80Math());
  manager.addPass(createLowerToSm75());
  sm80::addConversionsToLlvm(manager);
}

void sm75::registerSm75Dialects(DialectRegistry &registry) {
  sm80::registerSm80Dialects(registry);
}

void sm75::registerSm75Passes() {
  registerQmSm75Passes();
  PassPipelineRegistration<>(
      "qm-sm75-pipeline", "scheduled kernels for sm_75 to the NVVM dialect",
      [](OpPassManager &manager) { buildSm75Pipeline(manager); });
}
