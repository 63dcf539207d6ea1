// The pipeline of the sm_80 lowering.
#include "lowering/sm80/Pipeline.h"

#include "lowering/nvvm/NVVMEmit.h"
#include "lowering/sm80/Passes.h"

#include "mlir/Conversion/ArithToLLVM/ArithToLLVM.h"
#include "mlir/Conversion/ControlFlowToLLVM/ControlFlowToLLVM.h"
#include "mlir/Conversion/MathToLLVM/MathToLLVM.h"
#include "mlir/Conversion/ReconcileUnrealizedCasts/ReconcileUnrealizedCasts.h"
#include "mlir/Conversion/SCFToControlFlow/SCFToControlFlow.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Pass/PassRegistry.h"

using namespace mlir;
using namespace qm;

void sm80::buildSm80Pipeline(OpPassManager &manager) {
  manager.addNestedPass<attn::KernelOp>(createExpandSm80Math());
  manager.addPass(createLowerToSm80());
  addConversionsToLlvm(manager);
}

void sm80::addConversionsToLlvm(OpPassManager &manager) {
  OpPassManager &functions = manager.nest<LLVM::LLVMFuncOp>();
  functions.addPass(createSCFToControlFlowPass());
  functions.addPass(createConvertMathToLLVMPass());
  functions.addPass(createArithToLLVMConversionPass());
  manager.addPass(createConvertControlFlowToLLVMPass());
  manager.addPass(createReconcileUnrealizedCastsPass());
}

void sm80::registerSm80Dialects(DialectRegistry &registry) {
  registry.insert<attn::AttnDialect, arith::ArithDialect, math::MathDialect,
                  scf::SCFDialect>();
  nvvm::registerNvvm(registry);
}

void sm80::registerSm80Passes() {
  registerQmSm80Passes();
  PassPipelineRegistration<>(
      "qm-sm80-pipeline", "scheduled kernels for sm_80 to the NVVM dialect",
      [](OpPassManager &manager) { buildSm80Pipeline(manager); });
}
