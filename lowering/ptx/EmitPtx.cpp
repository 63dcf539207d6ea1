// LLVM dialect -> LLVM IR -> optimised -> PTX.
#include "lowering/ptx/EmitPtx.h"

#include "dialect/Diagnostics.h"
#include "lowering/common/TargetInfo.h"

#include "mlir/Pass/PassManager.h"
#include "mlir/Target/LLVMIR/Export.h"

#include "llvm/IR/LegacyPassManager.h"
#include "llvm/IR/Module.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/Target/TargetMachine.h"
#include "llvm/Transforms/InstCombine/InstCombine.h"
#include "llvm/Transforms/Scalar/EarlyCSE.h"
#include "llvm/Transforms/Scalar/LICM.h"
#include "llvm/Transforms/Scalar/LoopPassManager.h"
#include "llvm/Transforms/Scalar/Reassociate.h"
#include "llvm/Transforms/Scalar/SimplifyCFG.h"

#include <chrono>
#include <mutex>

using namespace mlir;
using namespace qm;
using diag::Id;

namespace {
/// Adds the time from here to the end of the scope.
class Stopwatch {
public:
  explicit Stopwatch(double *seconds) : seconds(seconds) {}
  ~Stopwatch() {
    if (seconds)
      *seconds += std::chrono::duration<double>(
                      std::chrono::steady_clock::now() - start)
                      .count();
  }

private:
  double *seconds;
  std::chrono::steady_clock::time_point start =
      std::chrono::steady_clock::now();
};
} // namespace

/// The back end registers itself once a process; shared memory has 32-bit
/// pointers (fewer instructions).
static void initializeBackEnd() {
  static std::once_flag once;
  std::call_once(once, [] {
    LLVMInitializeNVPTXTargetInfo();
    LLVMInitializeNVPTXTarget();
    LLVMInitializeNVPTXTargetMC();
    LLVMInitializeNVPTXAsmPrinter();
    auto &options = llvm::cl::getRegisteredOptions();
    if (auto found = options.find("nvptx-short-ptr"); found != options.end())
      static_cast<llvm::cl::opt<bool> *>(found->second)->setValue(true);
  });
}

static std::unique_ptr<llvm::TargetMachine>
createTargetMachine(const lowering::TargetInfo &target) {
  initializeBackEnd();
  llvm::Triple triple("nvptx64-nvidia-cuda");
  std::string error;
  const llvm::Target *backEnd =
      llvm::TargetRegistry::lookupTarget(triple, error);
  if (!backEnd)
    return nullptr;
  llvm::TargetOptions options;
  // The highest level merges values that both sides of a branch read, strides
  // for one, which ptxas then keeps in registers: 3 to 5 % of sm_75's speed at
  // head dim 128. Other targets' kernels gain nothing for a third more time.
  auto level = target.sm == 75 ? llvm::CodeGenOptLevel::Aggressive
                               : llvm::CodeGenOptLevel::Default;
  return std::unique_ptr<llvm::TargetMachine>(backEnd->createTargetMachine(
      triple, target.name, target.ptxFeature, options, llvm::Reloc::PIC_,
      std::nullopt, level));
}

/// Kernels are emitted unrolled and in the order they should run, with
/// fragments in registers: common subexpressions, peepholes and code motion are
/// all there is to do.
static void optimize(llvm::Module &module, llvm::TargetMachine &machine) {
  llvm::PassBuilder builder(&machine);
  llvm::LoopAnalysisManager loops;
  llvm::FunctionAnalysisManager functions;
  llvm::CGSCCAnalysisManager components;
  llvm::ModuleAnalysisManager modules;
  builder.registerModuleAnalyses(modules);
  builder.registerCGSCCAnalyses(components);
  builder.registerFunctionAnalyses(functions);
  builder.registerLoopAnalyses(loops);
  builder.crossRegisterProxies(loops, functions, components, modules);

  llvm::FunctionPassManager passes;
  passes.addPass(llvm::SimplifyCFGPass());
  passes.addPass(llvm::EarlyCSEPass());
  passes.addPass(llvm::ReassociatePass());
  passes.addPass(llvm::InstCombinePass());
  passes.addPass(llvm::createFunctionToLoopPassAdaptor(
      llvm::LICMPass(llvm::LICMOptions()), /*UseMemorySSA=*/true));
  passes.addPass(llvm::EarlyCSEPass());
  passes.addPass(llvm::SimplifyCFGPass());
  llvm::ModulePassManager manager;
  manager.addPass(llvm::createModuleToFunctionPassAdaptor(std::move(passes)));
  manager.run(module, modules);
}

FailureOr<std::string> qm::ptx::emitPtx(ModuleOp module,
                                        const PtxOptions &options) {
  auto error = [&](const llvm::Twine &text) {
    return diag::error(module, Id::PtxEmissionFailed) << text;
  };
  const lowering::TargetInfo *target = lowering::findTarget(options.target);
  if (!target || target->kind != lowering::TargetKind::Nvidia)
    return error("'" + options.target + "' is not an NVIDIA target");
  PtxOptions::Times discarded;
  PtxOptions::Times &times = options.times ? *options.times : discarded;

  llvm::LLVMContext context;
  std::unique_ptr<llvm::Module> llvmModule;
  {
    Stopwatch watch(&times.translate);
    llvmModule = translateModuleToLLVMIR(module, context);
  }
  if (!llvmModule)
    return error("the module does not translate to LLVM IR");
  std::unique_ptr<llvm::TargetMachine> machine = createTargetMachine(*target);
  if (!machine)
    return error("this LLVM has no NVPTX back end");
  llvmModule->setTargetTriple(machine->getTargetTriple());
  llvmModule->setDataLayout(machine->createDataLayout());
  for (llvm::Function &function : *llvmModule)
    if (!function.isDeclaration())
      function.addFnAttr("denormal-fp-math-f32", "preserve-sign,preserve-sign");
  {
    Stopwatch watch(&times.optimize);
    optimize(*llvmModule, *machine);
  }
  if (options.llvmIr)
    llvm::raw_string_ostream(*options.llvmIr) << *llvmModule;

  llvm::SmallString<0> text;
  {
    Stopwatch watch(&times.codegen);
    llvm::raw_svector_ostream stream(text);
    llvm::legacy::PassManager passes;
    if (machine->addPassesToEmitFile(passes, stream, nullptr,
                                     llvm::CodeGenFileType::AssemblyFile))
      return error("the NVPTX back end cannot write assembly");
    passes.run(*llvmModule);
  }
  return std::string(text);
}
