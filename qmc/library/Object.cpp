//===- Object.cpp - a library's data and functions as an object file ------===//
//
// Written by LLVM, not by a C compiler: a static library needs no tool of the
// machine, and the bytes depend on nothing but the contents.
//
//===----------------------------------------------------------------------===//
#include "qmc/Console.h"
#include "qmc/library/Contents.h"

#include "runtime/qm.h"

#include "mlir/Pass/PassManager.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/IR/Constants.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/LegacyPassManager.h"
#include "llvm/IR/Module.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/Target/TargetMachine.h"
#include "llvm/TargetParser/Host.h"

using namespace llvm;
using namespace qm;
using namespace qm::driver;

namespace {

class ObjectBuilder {
public:
  ObjectBuilder(const LibraryContents &library, StringRef package)
      : library(library), package(package), module("library", context),
        builder(context) {}

  mlir::FailureOr<std::string> build() {
    if (failed(chooseTarget()))
      return failure();
    makeEmbedded();
    makeForwarder("library", "qm_embedded_open", {pointer()});
    makeForwarder("unload", "qm_embedded_close", {});
    for (auto [index, op] : enumerate(library.operators))
      makeCall(op, index);
    SmallString<0> bytes;
    raw_svector_ostream stream(bytes);
    legacy::PassManager manager;
    machine->addPassesToEmitFile(manager, stream, nullptr,
                                 CodeGenFileType::ObjectFile);
    manager.run(module);
    return std::string(bytes.str());
  }

private:
  PointerType *pointer() { return builder.getPtrTy(); }

  LogicalResult chooseTarget() {
    InitializeNativeTarget();
    InitializeNativeTargetAsmPrinter();
    Triple triple(sys::getDefaultTargetTriple());
    std::string error;
    const Target *target = TargetRegistry::lookupTarget(triple, error);
    if (!target)
      return reportError(diag::Id::CpuCodeGenerator,
                         "LLVM cannot make code for " + triple.str() + ": " +
                             error,
                         "", "use an LLVM with this machine's target");
    machine.reset(target->createTargetMachine(triple, "generic", "",
                                              TargetOptions(), Reloc::PIC_));
    module.setDataLayout(machine->createDataLayout());
    module.setTargetTriple(triple);
    return success();
  }

  GlobalVariable *makeGlobal(Constant *value, const Twine &name,
                             GlobalValue::LinkageTypes linkage,
                             bool isConstant = true) {
    return new GlobalVariable(module, value->getType(), isConstant, linkage,
                              value, name);
  }

  Constant *makeString(StringRef text) {
    return makeGlobal(ConstantDataArray::getString(context, text), "",
                      GlobalValue::PrivateLinkage);
  }

  /// {name, function} of each kernel's CPU code: qm_cpu_symbol.
  Constant *makeSymbols(size_t &count) {
    std::vector<Constant *> symbols;
    StructType *type = StructType::get(context, {pointer(), pointer()});
    for (const std::unique_ptr<KernelJob> &job : library.jobs) {
      if (job->result.symbol.empty())
        continue;
      auto *function = Function::Create(
          FunctionType::get(builder.getVoidTy(), /*isVarArg=*/false),
          GlobalValue::ExternalLinkage, job->result.symbol, module);
      symbols.push_back(ConstantStruct::get(
          type, {makeString(job->result.symbol), function}));
    }
    count = symbols.size();
    return makeGlobal(
        ConstantArray::get(ArrayType::get(type, symbols.size()), symbols), "",
        GlobalValue::PrivateLinkage);
  }

  /// The qm_embedded that everything else passes on.
  void makeEmbedded() {
    GlobalVariable *data =
        makeGlobal(ConstantDataArray::getString(context, package,
                                                /*AddNull=*/false),
                   "", GlobalValue::PrivateLinkage);
    data->setAlignment(Align(64));
    size_t count = 0;
    Constant *symbols = makeSymbols(count);
    Constant *fields[] = {builder.getInt64(sizeof(qm_embedded)),
                          builder.getInt64(QM_ABI_VERSION),
                          makeString(library.name),
                          data,
                          builder.getInt64(package.size()),
                          symbols,
                          builder.getInt64(count),
                          ConstantPointerNull::get(pointer())};
    embedded =
        makeGlobal(ConstantStruct::getAnon(fields), library.name + "_embedded",
                   GlobalValue::ExternalLinkage, /*isConstant=*/false);
  }

  Function *begin(const Twine &name, ArrayRef<Type *> parameters) {
    Function *function = Function::Create(
        FunctionType::get(builder.getInt32Ty(), parameters, false),
        GlobalValue::ExternalLinkage, library.name + "_" + name, module);
    builder.SetInsertPoint(BasicBlock::Create(context, "", function));
    return function;
  }

  void callAndReturn(StringRef callee, ArrayRef<Value *> arguments) {
    std::vector<Type *> types;
    for (Value *argument : arguments)
      types.push_back(argument->getType());
    FunctionCallee function = module.getOrInsertFunction(
        callee, FunctionType::get(builder.getInt32Ty(), types, false));
    builder.CreateRet(builder.CreateCall(function, arguments));
  }

  /// int NAME_suffix(...) { return callee(&embedded, ...); }
  void makeForwarder(StringRef suffix, StringRef callee,
                     ArrayRef<Type *> parameters) {
    Function *function = begin(suffix, parameters);
    std::vector<Value *> arguments = {embedded};
    for (Argument &argument : function->args())
      arguments.push_back(&argument);
    callAndReturn(callee, arguments);
  }

  /// int NAME_spec(arguments..., options): fills an array of qm_value.
  void makeCall(const LibraryOperator &op, size_t index) {
    struct Kind {
      Type *type;
      int kind;
    };
    std::vector<Kind> kinds;
    std::vector<Type *> types;
    const KernelJob &job = *library.jobsOf(*op.kernels.front()).front();
    for (const json::Value &value : LibraryContents::argumentsOf(job)) {
      const json::Object &argument = *value.getAsObject();
      if (argument.getString("kind") == "tensor")
        kinds.push_back({pointer(), QM_TENSOR});
      else if (argument.getString("dtype") == "f32")
        kinds.push_back({builder.getFloatTy(), QM_F32});
      else
        kinds.push_back({builder.getInt32Ty(), QM_I32});
      types.push_back(kinds.back().type);
    }
    types.push_back(pointer());
    Function *function = begin(op.name, types);

    static_assert(sizeof(qm_value) == 16 && offsetof(qm_value, as) == 8);
    Type *valueType = StructType::get(
        builder.getInt32Ty(), builder.getInt32Ty(), builder.getInt64Ty());
    Value *values = builder.CreateAlloca(
        ArrayType::get(valueType, kinds.size()), nullptr, "values");
    for (auto [i, kind] : enumerate(kinds)) {
      Value *slot = builder.CreateConstGEP1_64(valueType, values, i);
      Value *place = builder.CreateStructGEP(valueType, slot, 2);
      builder.CreateStore(builder.getInt32(kind.kind), slot);
      builder.CreateStore(builder.getInt32(0),
                          builder.CreateStructGEP(valueType, slot, 1));
      builder.CreateStore(builder.getInt64(0), place);
      builder.CreateStore(function->getArg(i), place);
    }
    callAndReturn("qm_embedded_launch", {embedded, builder.getInt64(index),
                                         values, builder.getInt64(kinds.size()),
                                         function->getArg(kinds.size())});
  }

  const LibraryContents &library;
  StringRef package;
  LLVMContext context;
  Module module;
  IRBuilder<> builder;
  std::unique_ptr<TargetMachine> machine;
  GlobalVariable *embedded = nullptr;
};

} // namespace

mlir::FailureOr<std::string>
qm::driver::makeLibraryObject(const LibraryContents &library,
                              StringRef package) {
  return ObjectBuilder(library, package).build();
}
