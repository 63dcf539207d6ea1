// What the pipelines of all NVIDIA targets share.
#include "lowering/gpu/Pipeline.h"

#include "lowering/gpu/Passes.h"
#include "lowering/nvvm/NVVMEmit.h"

#include "mlir/Conversion/ArithToLLVM/ArithToLLVM.h"
#include "mlir/Conversion/ControlFlowToLLVM/ControlFlowToLLVM.h"
#include "mlir/Conversion/MathToLLVM/MathToLLVM.h"
#include "mlir/Conversion/ReconcileUnrealizedCasts/ReconcileUnrealizedCasts.h"
#include "mlir/Conversion/SCFToControlFlow/SCFToControlFlow.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Pass/PassManager.h"

using namespace mlir;
using namespace qm;

void gpu::addConversionsToLlvm(OpPassManager &manager) {
  OpPassManager &functions = manager.nest<LLVM::LLVMFuncOp>();
  functions.addPass(createSCFToControlFlowPass());
  functions.addPass(createConvertMathToLLVMPass());
  functions.addPass(createArithToLLVMConversionPass());
  manager.addPass(createConvertControlFlowToLLVMPass());
  manager.addPass(createReconcileUnrealizedCastsPass());
}

void gpu::registerGpuDialects(DialectRegistry &registry) {
  registry.insert<attn::AttnDialect, arith::ArithDialect,
                  cf::ControlFlowDialect, math::MathDialect, scf::SCFDialect>();
  nvvm::registerNvvm(registry);
}

void gpu::registerGpuPasses() { registerQmGpuPasses(); }
