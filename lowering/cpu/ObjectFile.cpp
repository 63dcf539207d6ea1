//===- ObjectFile.cpp - CPU kernels ahead of time -------------------------===//

#include "lowering/cpu/ObjectFile.h"

#include "dialect/Diagnostics.h"
#include "lowering/cpu/MachineCode.h"

#include "mlir/Pass/PassManager.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/IR/LegacyPassManager.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;
using namespace qm;
using namespace qm::cpu;

static FailureOr<std::string> emitFile(ModuleOp module,
                                       llvm::CodeGenFileType type) {
  FailureOr<MachineModule> code = makeMachineModule(module);
  if (failed(code))
    return failure();
  llvm::SmallString<0> bytes;
  llvm::raw_svector_ostream stream(bytes);
  llvm::legacy::PassManager manager;
  if (code->machine->addPassesToEmitFile(manager, stream, nullptr, type)) {
    diag::help(diag::error(module.getLoc(), diag::Id::CpuCodeGenerator)
                   << "LLVM cannot write this kind of file for "
                   << code->machine->getTargetTriple().str(),
               "use --emit=llvm and another LLVM's llc");
    return failure();
  }
  manager.run(*code->module);
  return std::string(bytes.str());
}

FailureOr<std::string> qm::cpu::makeObjectFile(ModuleOp module) {
  return emitFile(module, llvm::CodeGenFileType::ObjectFile);
}

FailureOr<std::string> qm::cpu::makeAssembly(ModuleOp module) {
  return emitFile(module, llvm::CodeGenFileType::AssemblyFile);
}

FailureOr<std::string> qm::cpu::makeLlvmIr(ModuleOp module) {
  FailureOr<MachineModule> code = makeMachineModule(module);
  if (failed(code))
    return failure();
  std::string text;
  llvm::raw_string_ostream(text) << *code->module;
  return text;
}
