// JIT and object file: entries, and errors that are reported and not suffered.
#include "CompiledSpec.h"

#include "lowering/common/TargetInfo.h"
#include "lowering/cpu/ObjectFile.h"
#include "lowering/cpu/Pipeline.h"

#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"
#include "gtest/gtest.h"

using namespace mlir;
using namespace qm;
using namespace qm::test;

namespace {

/// A module of the LLVM dialect with one entry.
class Lowered {
public:
  explicit Lowered(StringRef cpu, StringRef body = "llvm.return",
                   StringRef declarations = "") {
    DialectRegistry registry;
    cpu::registerCpuDialects(registry);
    context.appendDialectRegistry(registry);
    context.loadAllAvailableDialects();
    context.getDiagEngine().registerHandler([&](Diagnostic &diagnostic) {
      messages += diagnostic.str() + "\n";
      for (Diagnostic &note : diagnostic.getNotes())
        messages += note.str() + "\n";
    });
    module = parseSourceString<ModuleOp>(
        (declarations +
         "llvm.func @f(%s: !llvm.ptr, %a: i64, %b: i64) attributes "
         "{target_cpu = \"" +
         cpu + "\"} { " + body + " }")
            .str(),
        &context);
  }
  MLIRContext context;
  OwningOpRef<ModuleOp> module;
  std::string messages;
};

TEST(Jit, FindsEntriesByName) {
  Lowered code("generic");
  FailureOr<cpu::Jit> jit = cpu::Jit::compile(*code.module);
  ASSERT_TRUE(succeeded(jit)) << code.messages;
  ASSERT_NE(jit->lookup("f"), nullptr);
  jit->lookup("f")(nullptr, 0, 0);
  EXPECT_EQ(jit->lookup("g"), nullptr);
}

TEST(Jit, RefusesALevelThisMachineLacks) {
  Lowered code("x86-64-v4");
  EXPECT_TRUE(failed(
      cpu::Jit::compile(*code.module, *lowering::findTarget("x86-64-v3"))));
  EXPECT_NE(code.messages.find("QM0453: 'f' is compiled for 'x86-64-v4', which "
                               "this machine ('x86-64-v3') does not run"),
            std::string::npos)
      << code.messages;
}

TEST(Jit, ReportsWhatLlvmCannotLink) {
  Lowered code("generic",
               "llvm.call @qm_no_such_function() : () -> () llvm.return",
               "llvm.func @qm_no_such_function() ");
  EXPECT_TRUE(failed(cpu::Jit::compile(*code.module)));
  EXPECT_NE(code.messages.find("QM0454: the JIT failed"), std::string::npos)
      << code.messages;
}

TEST(ObjectFile, IsElfWithTheEntry) {
  Lowered code("generic");
  FailureOr<std::string> object = cpu::makeObjectFile(*code.module);
  ASSERT_TRUE(succeeded(object)) << code.messages;
  EXPECT_EQ(object->substr(1, 3), "ELF");
  FailureOr<std::string> assembly = cpu::makeAssembly(*code.module);
  ASSERT_TRUE(succeeded(assembly));
  EXPECT_NE(assembly->find("f:"), std::string::npos);
  FailureOr<std::string> ir = cpu::makeLlvmIr(*code.module);
  ASSERT_TRUE(succeeded(ir));
  EXPECT_NE(ir->find("define void @f("), std::string::npos);
}

} // namespace
