//===- MachineCode.cpp - LLVM dialect to optimised LLVM IR ----------------===//

#include "lowering/cpu/MachineCode.h"

#include "dialect/Diagnostics.h"

#include "mlir/Target/LLVMIR/Export.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/TargetParser/Host.h"

#include <mutex>

using namespace mlir;
using namespace qm;
using namespace qm::cpu;

static void initializeNativeTarget() {
  static std::once_flag once;
  std::call_once(once, [] {
    llvm::InitializeNativeTarget();
    llvm::InitializeNativeTargetAsmPrinter();
  });
}

static std::unique_ptr<llvm::TargetMachine> makeTargetMachine(ModuleOp module) {
  initializeNativeTarget();
  llvm::Triple triple(llvm::sys::getDefaultTargetTriple());
  std::string error;
  const llvm::Target *target =
      llvm::TargetRegistry::lookupTarget(triple, error);
  if (!target) {
    diag::help(diag::error(module.getLoc(), diag::Id::CpuCodeGenerator)
                   << "LLVM cannot make code for " << triple.str() << ": "
                   << error,
               "use an LLVM that is built with this machine's target");
    return nullptr;
  }
  // The functions name their CPU themselves; "generic" is for what has no name.
  return std::unique_ptr<llvm::TargetMachine>(target->createTargetMachine(
      triple, "generic", "", llvm::TargetOptions(), llvm::Reloc::PIC_,
      std::nullopt, llvm::CodeGenOptLevel::Aggressive));
}

/// LLVM's -O3 without its vectorisers: the code is vectors already, and the
/// scalar loops left (copies of rows) are too short to gain.
static void optimize(llvm::Module &module, llvm::TargetMachine &machine) {
  llvm::PipelineTuningOptions tuning;
  tuning.LoopVectorization = false;
  tuning.SLPVectorization = false;
  llvm::PassBuilder builder(&machine, tuning);
  llvm::LoopAnalysisManager loops;
  llvm::FunctionAnalysisManager functions;
  llvm::CGSCCAnalysisManager sccs;
  llvm::ModuleAnalysisManager modules;
  builder.registerModuleAnalyses(modules);
  builder.registerCGSCCAnalyses(sccs);
  builder.registerFunctionAnalyses(functions);
  builder.registerLoopAnalyses(loops);
  builder.crossRegisterProxies(loops, functions, sccs, modules);
  builder.buildPerModuleDefaultPipeline(llvm::OptimizationLevel::O3)
      .run(module, modules);
}

FailureOr<MachineModule> qm::cpu::makeMachineModule(ModuleOp module) {
  MachineModule result;
  result.machine = makeTargetMachine(module);
  if (!result.machine)
    return failure();
  result.context = std::make_unique<llvm::LLVMContext>();
  result.module = translateModuleToLLVMIR(module, *result.context,
                                          module.getName().value_or("qm"));
  if (!result.module)
    return failure();
  result.module->setDataLayout(result.machine->createDataLayout());
  result.module->setTargetTriple(result.machine->getTargetTriple());
  optimize(*result.module, *result.machine);
  return result;
}
