// The pipeline of the sm_75 lowering.
#include "lowering/sm75/Pipeline.h"

#include "lowering/gpu/Passes.h"
#include "lowering/gpu/Pipeline.h"
#include "lowering/sm75/Passes.h"

#include "mlir/Pass/PassManager.h"
#include "mlir/Pass/PassRegistry.h"

using namespace mlir;
using namespace qm;

void sm75::buildSm75Pipeline(OpPassManager &manager) {
  manager.addNestedPass<attn::KernelOp>(gpu::createExpandGpuMath());
  manager.addPass(createLowerToSm75());
  gpu::addConversionsToLlvm(manager);
}

void sm75::registerSm75Passes() {
  registerQmSm75Passes();
  PassPipelineRegistration<>(
      "qm-sm75-pipeline", "scheduled kernels for sm_75 to the NVVM dialect",
      [](OpPassManager &manager) { buildSm75Pipeline(manager); });
}
