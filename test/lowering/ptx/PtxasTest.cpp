// ptxas's report is read right, and a missing ptxas is an error that says where
// it was looked for.
#include "lowering/ptx/Ptxas.h"

#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/MLIRContext.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"

#include <gtest/gtest.h>

using namespace qm::ptx;

// As ptxas 13.0 printed it.
static const char *report = R"(ptxas info    : 0 bytes gmem
ptxas info    : Compiling entry function 'first' for 'sm_80'
ptxas info    : Function properties for first
    8 bytes stack frame, 24 bytes spill stores, 16 bytes spill loads
ptxas info    : Used 255 registers, used 1 barriers, 8 bytes cumulative stack size, 424 bytes cmem[0]
ptxas info    : Compile time = 578.149 ms
ptxas info    : (C7508) Potential Performance Loss: wgmma.mma_async instructions are serialized
ptxas info    : Compiling entry function 'second' for 'sm_80'
ptxas info    : Function properties for second
    0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads
ptxas info    : Used 40 registers, used 2 barriers, 1024 bytes smem, 400 bytes cmem[0]
)";

TEST(PtxasReport, ReadsEveryKernel) {
  PtxasReport parsed = parsePtxasReport(report);
  ASSERT_EQ(parsed.kernels.size(), 2u);
  const KernelResources *first = parsed.find("first");
  ASSERT_NE(first, nullptr);
  EXPECT_EQ(first->registers, 255u);
  EXPECT_EQ(first->stackFrame, 8u);
  EXPECT_EQ(first->spillStores, 24u);
  EXPECT_EQ(first->spillLoads, 16u);
  EXPECT_EQ(first->barriers, 1u);
  EXPECT_EQ(first->constantBytes, 424u);
  const KernelResources *second = parsed.find("second");
  ASSERT_NE(second, nullptr);
  EXPECT_EQ(second->registers, 40u);
  EXPECT_EQ(second->sharedBytes, 1024u);
  EXPECT_EQ(second->barriers, 2u);
  ASSERT_EQ(parsed.notes.size(), 1u);
  EXPECT_NE(parsed.notes.front().find("C7508"), std::string::npos);
  EXPECT_EQ(parsed.find("third"), nullptr);
}

namespace {
/// The text of the errors reported while it lives, notes included.
struct Errors {
  mlir::MLIRContext context;
  std::string text;
  mlir::ScopedDiagnosticHandler handler{&context, [this](mlir::Diagnostic &d) {
                                          text += d.str() + "\n";
                                          for (mlir::Diagnostic &note :
                                               d.getNotes())
                                            text += note.str() + "\n";
                                          return mlir::success();
                                        }};
};
} // namespace

TEST(Ptxas, MissingIsAnErrorWithAWayOut) {
  Errors errors;
  PtxasOptions options;
  options.path = "/nowhere/ptxas";
  EXPECT_TRUE(
      failed(assemble("", options, mlir::UnknownLoc::get(&errors.context))));
  EXPECT_NE(errors.text.find("QM0420"), std::string::npos) << errors.text;
  EXPECT_NE(errors.text.find("/nowhere/ptxas"), std::string::npos);
  EXPECT_NE(errors.text.find("needs no ptxas"), std::string::npos);
}

TEST(Ptxas, NamedByEnvironmentIsNotReplaced) {
  ASSERT_EQ(setenv("QM_PTXAS", "/nowhere", 1), 0);
  std::vector<std::string> searched;
  EXPECT_EQ(findPtxas("", &searched), "");
  ASSERT_EQ(searched.size(), 1u);
  EXPECT_EQ(searched.front(), "QM_PTXAS (/nowhere)");
  unsetenv("QM_PTXAS");
}

TEST(Ptxas, RefusalIsAnErrorWithItsWords) {
  if (findPtxas("").empty())
    GTEST_SKIP() << "no ptxas";
  Errors errors;
  EXPECT_TRUE(failed(
      assemble("this is not PTX", {}, mlir::UnknownLoc::get(&errors.context))));
  EXPECT_NE(errors.text.find("QM0421"), std::string::npos) << errors.text;
  EXPECT_NE(errors.text.find("ptxas"), std::string::npos);
}

TEST(WriteAtomically, LeavesNothingBesideTheFile) {
  llvm::SmallString<128> folder;
  ASSERT_FALSE(llvm::sys::fs::createUniqueDirectory("qm-write", folder));
  std::string file = (folder + "/a.cubin").str();
  ASSERT_FALSE(bool(writeAtomically(file, "bytes")));
  auto buffer = llvm::MemoryBuffer::getFile(file);
  ASSERT_TRUE(bool(buffer));
  EXPECT_EQ((*buffer)->getBuffer(), "bytes");
  std::error_code error;
  unsigned files = 0;
  for (llvm::sys::fs::directory_iterator it(folder, error), end; it != end;
       it.increment(error))
    ++files;
  EXPECT_EQ(files, 1u);
  EXPECT_TRUE(bool(writeAtomically((folder + "/none/a").str(), "x")));
  llvm::sys::fs::remove_directories(folder);
}
