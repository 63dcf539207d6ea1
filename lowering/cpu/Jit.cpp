//===- Jit.cpp - CPU kernels compiled in this process ---------------------===//

#include "lowering/cpu/Jit.h"

#include "dialect/Diagnostics.h"
#include "lowering/cpu/MachineCode.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "llvm/ExecutionEngine/Orc/CompileUtils.h"
#include "llvm/ExecutionEngine/Orc/ExecutionUtils.h"
#include "llvm/ExecutionEngine/Orc/LLJIT.h"

using namespace mlir;
using namespace qm;
using namespace qm::cpu;

Jit::Jit(std::unique_ptr<llvm::orc::LLJIT> engine)
    : engine(std::move(engine)) {}
Jit::Jit(Jit &&) = default;
Jit &Jit::operator=(Jit &&) = default;
Jit::~Jit() = default;

/// A function for wider vectors than the host has would die of SIGILL.
static LogicalResult checkHost(ModuleOp module,
                               const lowering::TargetInfo &host) {
  for (auto function : module.getOps<LLVM::LLVMFuncOp>()) {
    std::optional<StringRef> cpu = function.getTargetCpu();
    for (const lowering::TargetInfo &target : lowering::allTargets())
      if (cpu && target.kind == lowering::TargetKind::Cpu &&
          target.llvmCpu == *cpu && target.vectorBytes > host.vectorBytes)
        return diag::help(diag::error(function, diag::Id::CpuHostTooOld)
                              << "'" << function.getSymName()
                              << "' is compiled for '" << target.name
                              << "', which this machine ('" << host.name
                              << "') does not run",
                          "compile for --arch=" + host.name + " or --arch=cpu");
  }
  return success();
}

FailureOr<Jit> Jit::compile(ModuleOp module, const lowering::TargetInfo &host) {
  if (failed(checkHost(module, host)))
    return failure();
  FailureOr<MachineModule> code = makeMachineModule(module);
  if (failed(code))
    return failure();
  auto fail = [&](llvm::Error error) {
    diag::help(diag::error(module.getLoc(), diag::Id::CpuCodeGenerator)
                   << "the JIT failed: " << llvm::toString(std::move(error)),
               "report this with the kernel: it is a fault of the compiler");
    return failure();
  };

  // The module has its target machine already; the compiler takes it over.
  std::unique_ptr<llvm::TargetMachine> machine = std::move(code->machine);
  auto engine =
      llvm::orc::LLJITBuilder()
          .setCompileFunctionCreator(
              [&](llvm::orc::JITTargetMachineBuilder)
                  -> llvm::Expected<
                      std::unique_ptr<llvm::orc::IRCompileLayer::IRCompiler>> {
                return std::make_unique<llvm::orc::TMOwningSimpleCompiler>(
                    std::move(machine));
              })
          .create();
  if (!engine)
    return fail(engine.takeError());
  // For what LLVM calls out to (memcpy, the C math library).
  auto process = llvm::orc::DynamicLibrarySearchGenerator::GetForCurrentProcess(
      (*engine)->getDataLayout().getGlobalPrefix());
  if (!process)
    return fail(process.takeError());
  (*engine)->getMainJITDylib().addGenerator(std::move(*process));
  if (llvm::Error error = (*engine)->addIRModule(llvm::orc::ThreadSafeModule(
          std::move(code->module), std::move(code->context))))
    return fail(std::move(error));
  // Compile now, so that errors come from here and lookups are cheap.
  for (auto function : module.getOps<LLVM::LLVMFuncOp>())
    if (!function.isExternal())
      if (auto address = (*engine)->lookup(function.getSymName()); !address)
        return fail(address.takeError());
  return Jit(std::move(*engine));
}

TileEntry Jit::lookup(StringRef name) const {
  auto address = engine->lookup(name);
  if (!address) {
    llvm::consumeError(address.takeError());
    return nullptr;
  }
  return address->toPtr<TileEntry>();
}
