// The pipeline of the sm_80 lowering.
#include "lowering/sm80/Pipeline.h"

#include "lowering/gpu/Passes.h"
#include "lowering/gpu/Pipeline.h"
#include "lowering/sm80/Passes.h"

#include "mlir/Pass/PassManager.h"
#include "mlir/Pass/PassRegistry.h"

using namespace mlir;
using namespace qm;

void sm80::buildSm80Pipeline(OpPassManager &manager) {
  manager.addNestedPass<attn::KernelOp>(gpu::createExpandGpuMath());
  manager.addPass(createLowerToSm80());
  gpu::addConversionsToLlvm(manager);
}

void sm80::registerSm80Passes() {
  registerQmSm80Passes();
  PassPipelineRegistration<>(
      "qm-sm80-pipeline", "scheduled kernels for sm_80 to the NVVM dialect",
      [](OpPassManager &manager) { buildSm80Pipeline(manager); });
}
