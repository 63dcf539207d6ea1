// The pipeline of the sm_90a lowering.
#include "lowering/sm90/Pipeline.h"

#include "lowering/gpu/Passes.h"
#include "lowering/gpu/Pipeline.h"
#include "lowering/sm90/Passes.h"

#include "mlir/Pass/PassManager.h"
#include "mlir/Pass/PassRegistry.h"

using namespace mlir;
using namespace qm;

void sm90::buildSm90Pipeline(OpPassManager &manager) {
  manager.addNestedPass<attn::KernelOp>(gpu::createExpandGpuMath());
  manager.addPass(createLowerToSm90());
  gpu::addConversionsToLlvm(manager);
}

void sm90::registerSm90Passes() {
  registerQmSm90Passes();
  PassPipelineRegistration<>(
      "qm-sm90-pipeline", "scheduled kernels for sm_90a to the NVVM dialect",
      [](OpPassManager &manager) { buildSm90Pipeline(manager); });
}
