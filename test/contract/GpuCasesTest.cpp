// Users' reports on the GPU: compiles the cases and runs them. Skipped, with
// the driver's reason, where there is no GPU.
#include "test/contract/GpuCases.h"
#include "runtime/tools/RunCase.h"

#include "llvm/ADT/SmallString.h"
#include "llvm/Support/FileSystem.h"
#include "gtest/gtest.h"

#include <filesystem>

using namespace qm;

TEST(GpuCases, AllPass) {
  std::unique_ptr<runtime::CaseMemory> memory;
  if (runtime::makeGpuMemory(0, memory) != QM_OK)
    GTEST_SKIP() << "no GPU: " << qm_last_error();
  llvm::SmallString<128> folder;
  ASSERT_FALSE(llvm::sys::fs::createUniqueDirectory("qm-contract", folder));
  ASSERT_TRUE(succeeded(contract::writeGpuCases(folder, "sm_80")));

  std::string manifest = (folder + "/kernels.json").str();
  qm_library *library = nullptr;
  ASSERT_EQ(qm_library_load(manifest.c_str(), &library), QM_OK)
      << qm_last_error();
  int run = 0;
  for (const auto &entry :
       std::filesystem::directory_iterator(folder.str().str())) {
    runtime::CaseFile file;
    const qm_kernel *kernel = nullptr;
    if (entry.path().extension() != ".json" || entry.path() == manifest)
      continue;
    ASSERT_EQ(runtime::readCase(entry.path().string(), file), QM_OK)
        << qm_last_error();
    ASSERT_EQ(qm_library_find(library, file.kernel.c_str(), &kernel), QM_OK)
        << qm_last_error();
    runtime::CaseResult result = runtime::runCase(file, kernel, *memory, 0);
    EXPECT_TRUE(result.passed) << file.name << ": " << result.flaw;
    ++run;
  }
  EXPECT_GT(run, 0);
  qm_library_destroy(library);
  llvm::sys::fs::remove_directories(folder);
}
