// Parts of qmc that no command shows by itself.
#include "qmc/CrashReport.h"
#include "qmc/ErrorMeasure.h"
#include "qmc/Explanation.h"
#include "qmc/NearestName.h"
#include "qmc/Npy.h"
#include "qmc/OutputFiles.h"
#include "qmc/RandomData.h"
#include "qmc/TempFolder.h"

#include "llvm/Support/ErrorHandling.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "gtest/gtest.h"

#include <cmath>
#include <cstdlib>
#include <fstream>

using namespace qm;
using namespace qm::driver;
using reference::DType;
using reference::HostTensor;

namespace {

class InFolder : public testing::Test {
protected:
  void SetUp() override { folder.emplace(std::move(*TempFolder::create())); }
  std::string file(llvm::StringRef name) { return folder->file(name); }
  std::optional<TempFolder> folder;
};

TEST(NearestName, IsTheClosestSpelling) {
  std::vector<std::string> names = {"--arch", "--emit", "--seed"};
  EXPECT_EQ(nearestName("--ach", names), "--arch");
  EXPECT_EQ(nearestName("--emti", names), "--emit");
  EXPECT_EQ(nearestName("zzzzzzzz", names), "");
}

class Npy : public InFolder {};

TEST_F(Npy, RoundTripsEveryType) {
  for (DType dtype : {DType::F16, DType::F32, DType::F64, DType::I8, DType::I16,
                      DType::I32, DType::I64}) {
    HostTensor tensor(dtype, {2, 3}, {1, 0}); // column-major in memory
    for (int64_t at = 0; at < 6; ++at)
      storeFloat(tensor.view(), tensor.view().offset({at / 3, at % 3}), at - 2);
    std::ofstream(file("a.npy"), std::ios::binary) << makeNpy(tensor.view());
    auto read = readNpy(file("a.npy"));
    ASSERT_TRUE(mlir::succeeded(read));
    EXPECT_EQ(read->view().dtype, dtype);
    EXPECT_EQ(read->view().extents, tensor.view().extents);
    for (int64_t at = 0; at < 6; ++at)
      EXPECT_EQ(loadFloat(read->view(), at), at - 2);
  }
}

TEST_F(Npy, WidensBf16Exactly) {
  HostTensor tensor(DType::BF16, {1});
  storeFloat(tensor.view(), 0, 3.140625);
  std::ofstream(file("a.npy"), std::ios::binary) << makeNpy(tensor.view());
  auto read = readNpy(file("a.npy"));
  ASSERT_TRUE(mlir::succeeded(read));
  EXPECT_EQ(read->view().dtype, DType::F32);
  EXPECT_EQ(loadFloat(read->view(), 0), 3.140625);
}

TEST_F(Npy, RefusesDamagedFiles) {
  HostTensor tensor(DType::F32, {4});
  std::string good = makeNpy(tensor.view());
  std::string huge = good;
  huge.replace(huge.find("(4,)"), 4, "(4194304,4194304,4194304)");
  for (const std::string &bad :
       {std::string(), std::string("hello"), good.substr(0, 11),
        good.substr(0, good.size() - 1), huge}) {
    std::ofstream(file("a.npy"), std::ios::binary) << bad;
    EXPECT_TRUE(mlir::failed(readNpy(file("a.npy")))) << bad.size();
  }
}

class Outputs : public InFolder {};

TEST_F(Outputs, AppearTogether) {
  OutputFiles files;
  ASSERT_TRUE(mlir::succeeded(files.add(file("new/a"), "one")));
  ASSERT_TRUE(mlir::succeeded(files.add(file("new/b"), "two")));
  EXPECT_FALSE(llvm::sys::fs::exists(file("new/a")));
  ASSERT_TRUE(mlir::succeeded(files.commit()));
  auto text = llvm::MemoryBuffer::getFile(file("new/b"));
  ASSERT_TRUE(bool(text));
  EXPECT_EQ((*text)->getBuffer(), "two");
}

TEST_F(Outputs, LeaveNothingBehindOnFailure) {
  {
    OutputFiles files;
    ASSERT_TRUE(mlir::succeeded(files.add(file("new/sub/a"), "one")));
    EXPECT_TRUE(mlir::failed(files.add(file("."), "a folder")));
  }
  EXPECT_FALSE(llvm::sys::fs::exists(file("new")));
}

TEST(RandomData, DoesNotDependOnTheLayout) {
  HostTensor bhsd(DType::F32, {2, 3, 4, 5});
  HostTensor bshd(DType::F32, {2, 3, 4, 5}, {0, 2, 1, 3});
  fillNormal(bhsd.view(), 1, "q");
  fillNormal(bshd.view(), 1, "q");
  EXPECT_EQ(makeNpy(bhsd.view()), makeNpy(bshd.view()));
  fillNormal(bshd.view(), 2, "q");
  EXPECT_NE(makeNpy(bhsd.view()), makeNpy(bshd.view()));
}

TEST(RandomData, IntegersAreWhatTheyStandFor) {
  HostTensor ids(DType::I32, {2, 500}), lengths(DType::I32, {200});
  fillIntegers(ids.view(), 1, "ids", IntegerFill::Documents, 0);
  for (int64_t row : {0, 1}) {
    EXPECT_EQ(loadInteger(ids.view(), row * 500), 0);
    for (int64_t at = 1; at < 500; ++at) {
      int64_t step = loadInteger(ids.view(), row * 500 + at) -
                     loadInteger(ids.view(), row * 500 + at - 1);
      EXPECT_TRUE(step == 0 || step == 1);
    }
    EXPECT_GT(loadInteger(ids.view(), row * 500 + 499), 1);
  }
  fillIntegers(lengths.view(), 1, "n", IntegerFill::Lengths, 100);
  for (int64_t at = 0; at < 200; ++at) {
    EXPECT_GE(loadInteger(lengths.view(), at), 50);
    EXPECT_LE(loadInteger(lengths.view(), at), 100);
  }
}

TEST(ErrorMeasure, SeesNansAndInfinities) {
  reference::Output truth, got;
  truth.o = {1, 2, 0};
  truth.lse = {0, -INFINITY};
  got = truth;
  EXPECT_EQ(measureErrors(got, truth).maxAbs, 0);
  EXPECT_EQ(measureErrors(got, truth).lse, 0);
  got.o[1] = 2.5;
  EXPECT_EQ(measureErrors(got, truth).maxAbs, 0.5);
  EXPECT_EQ(measureErrors(got, truth).maxRel, 0.25);
  got.o[1] = NAN;
  EXPECT_EQ(measureErrors(got, truth).maxAbs, INFINITY);
  got.lse[1] = -1e30;
  EXPECT_EQ(measureErrors(got, truth).lse, INFINITY);
}

// By the CUDA occupancy calculator for sm_80: 128 threads of 168 registers fit
// three times into 65536.
TEST(Explanation, OccupancyFollowsTheCalculator) {
  const lowering::TargetInfo &target = *lowering::findTarget("sm_80");
  Occupancy registers = computeOccupancy(target, 128, 168, 32768);
  EXPECT_EQ(registers.ctas, 3);
  EXPECT_EQ(registers.limit, "registers");
  Occupancy shared = computeOccupancy(target, 128, 32, 65536);
  EXPECT_EQ(shared.ctas, 2);
  EXPECT_EQ(shared.limit, "shared memory");
  EXPECT_EQ(computeOccupancy(target, 1024, 32, 0).limit, "registers");
}

// Turing keeps nothing of shared memory for itself: one CTA may have all of it.
TEST(Explanation, TuringGivesACtaAllSharedMemory) {
  const lowering::TargetInfo &target = *lowering::findTarget("sm_75");
  EXPECT_EQ(computeOccupancy(target, 256, 252, 65536).ctas, 1);
  EXPECT_EQ(computeOccupancy(target, 128, 234, 32768).ctas, 2);
}

class Crash : public InFolder {};

/// A crash must end with status 2 and leave the program behind.
TEST_F(Crash, WritesAReproducer) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  auto crash = [&](auto how) {
    setenv("TMPDIR", file("").c_str(), 1);
    installCrashReport("qmc build x.mlir");
    setCrashInput("module {}\n");
    how();
  };
  EXPECT_EXIT(crash([] { std::abort(); }), testing::ExitedWithCode(2),
              "internal error: abort(.|\n)*bug of the compiler(.|\n)*"
              "qmc-crash-[0-9]+\\.mlir");
  EXPECT_EXIT(crash([] { llvm::report_fatal_error("Cannot select"); }),
              testing::ExitedWithCode(2), "internal error: Cannot select");
}

} // namespace
