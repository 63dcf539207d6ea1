//===- RunCasesProgramTest.cpp - qm-run-cases as a person runs it ---------===//

#include "runtime/qm.h"
#include "test/runtime/Probe.h"
#include "test/runtime/ProbeCase.h"
#include "test/runtime/TempFolder.h"

#include <cstdio>
#include <gtest/gtest.h>
#include <sys/wait.h>

using namespace qm::runtime;

namespace {

struct Output {
  int status;
  std::string text;
};

Output run(const std::string &arguments) {
  FILE *pipe = popen((QM_RUN_CASES " " + arguments + " 2>&1").c_str(), "r");
  Output output;
  char buffer[4096];
  while (size_t count = fread(buffer, 1, sizeof buffer, pipe))
    output.text.append(buffer, count);
  output.status = WEXITSTATUS(pclose(pipe));
  return output;
}

void expectContains(const Output &output, const char *text) {
  EXPECT_NE(output.text.find(text), std::string::npos) << output.text;
}

/// A folder as `qmc verify --dump-case` leaves it: manifest, image, two cases,
/// the second with a wrong expectation.
class RunCasesProgram : public testing::Test {
protected:
  void SetUp() override {
    std::filesystem::copy_file(QM_PROBE_CPU, folder.path("probe.so"));
    folder.write("probe.json",
                 probe::manifest({probe::entry("cpu", "probe.so")}));
    CaseFile file = probe::makeCase();
    file.name = "good";
    ASSERT_EQ(writeCase(folder.path(), file), QM_OK);
    file.name = "wrong";
    file.arguments[7].expected[5] += 1;
    ASSERT_EQ(writeCase(folder.path(), file), QM_OK);
  }

  TempFolder folder;
};

TEST_F(RunCasesProgram, RunsAFolderAndCounts) {
  Output output = run("--target=cpu " + folder.path());
  EXPECT_EQ(output.status, 1);
  expectContains(output, "PASS  good");
  expectContains(output, "max error 0");
  expectContains(output, "FAIL  wrong");
  expectContains(output, "'lse'[0, 0, 5] is 2.25, expected 3.25 +- 0");
  expectContains(output, "1 passed, 1 failed\n");
}

TEST_F(RunCasesProgram, FiltersAndTimes) {
  Output output = run("--target=cpu --time=3 --filter=good " + folder.path());
  EXPECT_EQ(output.status, 0);
  expectContains(output, " ms\n");
  expectContains(output, "1 passed, 0 failed\n");
}

TEST_F(RunCasesProgram, RunsOneFile) {
  Output output = run("--target=cpu " + folder.path("good.json"));
  EXPECT_EQ(output.status, 0);
  expectContains(output, "1 passed, 0 failed\n");
}

TEST_F(RunCasesProgram, AFilterThatMatchesNothingIsNoSuccess) {
  Output output = run("--target=cpu --filter=nothing " + folder.path());
  EXPECT_EQ(output.status, 2);
  expectContains(output, "no case has 'nothing' in its name");
}

TEST_F(RunCasesProgram, DamagedCasesFailAndTheOthersRun) {
  folder.write("good.bin", "short");
  Output output = run("--target=cpu " + folder.path());
  EXPECT_EQ(output.status, 1);
  expectContains(output, "QM0540");
  expectContains(output, "0 passed, 2 failed\n");
}

TEST_F(RunCasesProgram, WrongUsageIsNamed) {
  for (const char *bad : {"--target=tpu", "--tiem", "--time=0", "--time=x",
                          "--device=-1", "--device=", "-x"}) {
    Output output = run(bad + (" " + folder.path()));
    EXPECT_EQ(output.status, 2) << bad;
    expectContains(output, bad);
  }
  EXPECT_EQ(run("").status, 2);
  EXPECT_EQ(run(folder.path("none")).status, 2);
  TempFolder empty;
  expectContains(run(empty.path()), "no case to run");
  Output help = run("--help");
  EXPECT_EQ(help.status, 0);
  expectContains(help, "usage: qm-run-cases");
}

TEST_F(RunCasesProgram, NoDriverIsNamed) {
  setenv("QM_CUDA_DRIVER", "/nowhere/libcuda.so.1", 1);
  Output output = run(folder.path());
  EXPECT_EQ(output.status, 2);
  expectContains(output, "QM0530");
}

} // namespace
