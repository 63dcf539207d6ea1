// The pipeline of the sm_90a lowering.
#include "lowering/sm90/Pipeline.h"

#include "lowering/nvvm/NVVMEmit.h"
#include "lowering/sm80/Passes.h"
#include "lowering/sm90/Passes.h"

#include "mlir/Conversion/ArithToLLVM/ArithToLLVM.h"
#include "mlir/Conversion/ControlFlowToLLVM/ControlFlowToLLVM.h"
#include "mlir/Conversion/MathToLLVM/MathToLLVM.h"
#include "mlir/Conversion/ReconcileUnrealizedCasts/ReconcileUnrealizedCasts.h"
#include "mlir/Conversion/SCFToControlFlow/SCFToControlFlow.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Pass/PassRegistry.h"

using namespace mlir;
using namespace qm;

void sm90::buildSm90Pipeline(OpPassManager &manager) {
  // Element-wise regions are the same on all NVIDIA targets.
  manager.addNestedPass<attn::KernelOp>(sm80::createExpandSm80Math());
  manager.addPass(createLowerToSm90());
  OpPassManager &functions = manager.nest<LLVM::LLVMFuncOp>();
  functions.addPass(createSCFToControlFlowPass());
  functions.addPass(createConvertMathToLLVMPass());
  functions.addPass(createArithToLLVMConversionPass());
  manager.addPass(createConvertControlFlowToLLVMPass());
  manager.addPass(createReconcileUnrealizedCastsPass());
}

void sm90::registerSm90Dialects(DialectRegistry &registry) {
  registry.insert<attn::AttnDialect, arith::ArithDialect,
                  cf::ControlFlowDialect, math::MathDialect, scf::SCFDialect>();
  nvvm::registerNvvm(registry);
}

void sm90::registerSm90Passes() {
  registerQmSm90Passes();
  PassPipelineRegistration<>(
      "qm-sm90-pipeline", "scheduled kernels for sm_90a to the NVVM dialect",
      [](OpPassManager &manager) { buildSm90Pipeline(manager); });
}
