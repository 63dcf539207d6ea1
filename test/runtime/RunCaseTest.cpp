//===- RunCaseTest.cpp - case files, and what running one finds -----------===//

#include "runtime/tools/RunCase.h"
#include "runtime/CaseFile.h"
#include "runtime/qm.h"
#include "runtime/tools/CompareOutput.h"
#include "test/runtime/Probe.h"
#include "test/runtime/ProbeCase.h"
#include "test/runtime/TempFolder.h"
#include "test/runtime/fake_cuda.h"

#include <cmath>
#include <cstdlib>
#include <cstring>
#include <dlfcn.h>
#include <gtest/gtest.h>
#include <limits>

using namespace qm::runtime;

namespace {

constexpr float infinity = std::numeric_limits<float>::infinity();

void expectEqual(const CaseFile &left, const CaseFile &right) {
  EXPECT_EQ(left.name, right.name);
  EXPECT_EQ(left.kernel, right.kernel);
  ASSERT_EQ(left.arguments.size(), right.arguments.size());
  for (size_t i = 0; i < left.arguments.size(); ++i) {
    const CaseArgument &a = left.arguments[i], &b = right.arguments[i];
    EXPECT_EQ(a.name, b.name);
    EXPECT_EQ(a.kind, b.kind);
    EXPECT_EQ(a.dtype, b.dtype);
    EXPECT_EQ(a.bits, b.bits);
    EXPECT_EQ(a.shape, b.shape);
    EXPECT_EQ(a.strides, b.strides);
    EXPECT_EQ(a.storageBytes, b.storageBytes);
    EXPECT_EQ(a.offset, b.offset);
    EXPECT_EQ(a.storage, b.storage);
    EXPECT_EQ(a.expected, b.expected);
    EXPECT_EQ(a.absolute, b.absolute);
    EXPECT_EQ(a.relative, b.relative);
  }
}

TEST(CaseFile, ReadsWhatItWrites) {
  TempFolder folder;
  CaseFile written = probe::makeCase(), read;
  written.arguments[7].expected[0] = -infinity; // lse of an empty row
  written.arguments[7].absolute = 1e-6;
  written.arguments[7].relative = 0.125;
  ASSERT_EQ(writeCase(folder.path(), written), QM_OK) << qm_last_error();
  ASSERT_EQ(readCase(folder.path("probe-strided.json"), read), QM_OK)
      << qm_last_error();
  expectEqual(written, read);
  EXPECT_EQ(read.manifest, folder.path("probe.json"));
}

TEST(CaseFile, EmptyTensorsSurvive) {
  TempFolder folder;
  CaseFile written = probe::makeCase(), read;
  CaseArgument &k = written.arguments[1];
  k.shape[2] = 0;
  k.storage.clear();
  k.storageBytes = 0;
  ASSERT_EQ(writeCase(folder.path(), written), QM_OK) << qm_last_error();
  ASSERT_EQ(readCase(folder.path("probe-strided.json"), read), QM_OK)
      << qm_last_error();
  expectEqual(written, read);
}

TEST(CaseFile, InconsistentTensorsAreNotWritten) {
  TempFolder folder;
  auto expectFlaw = [&](auto damage, const char *message) {
    CaseFile file = probe::makeCase();
    damage(file.arguments);
    EXPECT_EQ(writeCase(folder.path(), file), QM_ERROR_CASE_FILE);
    EXPECT_NE(strstr(qm_last_error(), message), nullptr) << qm_last_error();
  };
  expectFlaw([](auto &a) { a[0].strides.pop_back(); }, "as many strides");
  expectFlaw([](auto &a) { a[0].strides[0] *= 2; }, "outside its storage");
  expectFlaw([](auto &a) { a[0].strides[0] *= -1; }, "outside its storage");
  expectFlaw([](auto &a) { a[0].offset = 4; }, "outside its storage");
  expectFlaw([](auto &a) { a[0].shape[0] = INT64_MAX; }, "out of range");
  expectFlaw([](auto &a) { a[0].shape[0] = -1; }, "negative extent");
  expectFlaw([](auto &a) { a[0].storage.pop_back(); }, "as many numbers");
  expectFlaw([](auto &a) { a[7].expected.pop_back(); }, "as many numbers");
}

TEST(CaseFile, DamagedFilesAreErrors) {
  TempFolder folder;
  ASSERT_EQ(writeCase(folder.path(), probe::makeCase()), QM_OK);
  std::string path = folder.path("probe-strided.json"), text;
  std::getline(std::ifstream(path), text, '\0');
  CaseFile file;
  for (size_t length = 0; length < text.size() - 2; length += 7) {
    folder.write("probe-strided.json", text.substr(0, length));
    ASSERT_EQ(readCase(path, file), QM_ERROR_CASE_FILE) << length;
  }
  for (auto [from, to] :
       {std::pair("\"qm_case\": 1", "\"qm_case\": 2"),
        std::pair("\"input\"", "\"inout\""), std::pair("\"f32\"", "\"f8\""),
        std::pair("\"at\": ", "\"at\": 9999999"),
        std::pair("\"storage_bytes\": ", "\"storage_bytes\": -"),
        std::pair("probe-strided.bin", "gone.bin"),
        std::pair("\"kernel\"", "\"colonel\"")}) {
    std::string damaged = text;
    damaged.replace(damaged.find(from), strlen(from), to);
    folder.write("probe-strided.json", damaged);
    EXPECT_EQ(readCase(path, file), QM_ERROR_CASE_FILE) << to;
  }
  folder.write("probe-strided.json", text);
  folder.write("probe-strided.bin", "short");
  EXPECT_EQ(readCase(path, file), QM_ERROR_CASE_FILE);
  EXPECT_EQ(readCase(folder.path("none.json"), file), QM_ERROR_CASE_FILE);
  EXPECT_EQ(writeCase(folder.path("no/folder"), probe::makeCase()),
            QM_ERROR_CASE_FILE);
}

//--- Comparing ---------------------------------------------------------------

CaseArgument output(DataType dtype, std::vector<float> expected) {
  CaseArgument argument;
  argument.name = "o";
  argument.kind = CaseArgument::Kind::Output;
  argument.dtype = dtype;
  argument.shape = {static_cast<int64_t>(expected.size())};
  argument.strides = {1};
  argument.storageBytes = argument.shape[0] * bytesPerElement(dtype);
  argument.expected = std::move(expected);
  return argument;
}

template <typename T>
OutputError compare(const CaseArgument &argument, std::vector<T> got) {
  std::string storage(reinterpret_cast<const char *>(got.data()),
                      got.size() * sizeof(T));
  return compareOutput(argument, storage, '\xff');
}

TEST(CompareOutput, ToleranceIsPerElement) {
  CaseArgument argument = output(DataType::F32, {1, 100});
  argument.absolute = 0.5;
  argument.relative = 0.01;
  OutputError good = compare<float>(argument, {1.25f, 101});
  EXPECT_EQ(good.flaw, "");
  EXPECT_DOUBLE_EQ(good.maxError, 1);
  EXPECT_DOUBLE_EQ(good.worst, 1 / 1.5);
  OutputError bad = compare<float>(argument, {1.75f, 100});
  EXPECT_EQ(bad.flaw, "'o'[0] is 1.75, expected 1 +- 0.51");
}

TEST(CompareOutput, InfinitiesAndNansAreExact) {
  CaseArgument argument = output(DataType::F32, {-infinity});
  argument.absolute = 1e30;
  EXPECT_EQ(compare<float>(argument, {-infinity}).flaw, "");
  EXPECT_NE(compare<float>(argument, {infinity}).flaw, "");
  EXPECT_NE(compare<float>(argument, {-1e38f}).flaw, "");
  EXPECT_NE(compare<float>(argument, {NAN}).flaw, "");
  argument.expected = {0};
  EXPECT_NE(compare<float>(argument, {NAN}).flaw, "");
  EXPECT_NE(compare<float>(argument, {infinity}).flaw, "");
  argument.absolute = 0;
  EXPECT_EQ(compare<float>(argument, {-0.0f}).flaw, "");
  EXPECT_NE(compare<float>(argument, {1e-30f}).flaw, "");
}

TEST(CompareOutput, MarginsMustKeepThePoison) {
  CaseArgument argument = output(DataType::F32, {1});
  argument.storageBytes = 12;
  argument.offset = 4;
  std::string storage(12, '\xff');
  memcpy(storage.data() + 4, argument.expected.data(), 4);
  EXPECT_EQ(compareOutput(argument, storage, '\xff').flaw, "");
  storage[9] = 0;
  EXPECT_EQ(compareOutput(argument, storage, '\xff').flaw,
            "'o' was written outside its elements, at byte 9 of its storage");
}

// A NaN is expected where a row belongs to no sequence: it stays as it was.
TEST(CompareOutput, RowsOfNoSequenceMustKeepThePoison) {
  CaseArgument argument = output(DataType::F32, {1, NAN});
  std::string storage(8, '\xff');
  float one = 1;
  memcpy(storage.data(), &one, 4);
  EXPECT_EQ(compareOutput(argument, storage, '\xff').flaw, "");
  memcpy(storage.data() + 4, &one, 4);
  EXPECT_NE(compareOutput(argument, storage, '\xff').flaw, "");
}

TEST(CompareOutput, ReadsEveryType) {
  auto read = [](DataType type, uint64_t bits) {
    return readElement(type, reinterpret_cast<const char *>(&bits));
  };
  EXPECT_EQ(read(DataType::F16, 0x3c00), 1);
  EXPECT_EQ(read(DataType::F16, 0xc500), -5);
  EXPECT_EQ(read(DataType::F16, 0x0001), std::ldexp(1, -24));
  EXPECT_EQ(read(DataType::F16, 0x7bff), 65504);
  EXPECT_EQ(read(DataType::F16, 0xfc00), -infinity);
  EXPECT_TRUE(std::isnan(read(DataType::F16, 0xffff)));
  EXPECT_EQ(read(DataType::BF16, 0xbfc0), -1.5);
  EXPECT_EQ(read(DataType::F32, 0x40490fdb), 3.14159274101257324);
  EXPECT_EQ(read(DataType::F64, 0x4000000000000000), 2);
  EXPECT_EQ(read(DataType::I1, 1), 1);
  EXPECT_EQ(read(DataType::I8, 0xff), -1);
  EXPECT_EQ(read(DataType::I16, 0xfffe), -2);
  EXPECT_EQ(read(DataType::I32, 0xfffffffd), -3);
  EXPECT_EQ(read(DataType::I64, 5), 5);
}

//--- Running -----------------------------------------------------------------

CaseResult runOnCpu(const CaseFile &file, int repeats = 0) {
  qm_library *library = probe::cpuLibrary();
  std::unique_ptr<CaseMemory> memory;
  EXPECT_EQ(makeCpuMemory(memory), QM_OK);
  CaseResult result = runCase(file, probe::kernelOf(library), *memory, repeats);
  qm_library_destroy(library);
  return result;
}

TEST(RunCase, AGoodCasePassesOnTheCpu) {
  CaseResult result = runOnCpu(probe::makeCase(), 5);
  EXPECT_TRUE(result.passed) << result.flaw;
  EXPECT_EQ(result.maxError, 0);
  EXPECT_GT(result.milliseconds, 0);
}

TEST(RunCase, EveryWrongElementIsFound) {
  for (size_t output : {6, 7})
    for (size_t i = 0; i < probe::makeCase().arguments[output].expected.size();
         i += 37) {
      CaseFile file = probe::makeCase();
      file.arguments[output].expected[i] += 1;
      EXPECT_FALSE(runOnCpu(file).passed) << i;
    }
}

TEST(RunCase, ACallThatIsRefusedFails) {
  CaseFile file = probe::makeCase();
  file.arguments.pop_back();
  CaseResult result = runOnCpu(file);
  EXPECT_FALSE(result.passed);
  EXPECT_NE(result.flaw.find("QM0509"), std::string::npos) << result.flaw;
}

/// The same on the fake driver, whose kernels are host functions.
class RunCaseOnGpu : public testing::Test {
protected:
  static void SetUpTestSuite() {
    setenv("QM_CUDA_DRIVER", QM_FAKE_CUDA, 1);
    void *driver = dlopen(QM_FAKE_CUDA, RTLD_NOW);
    ASSERT_NE(driver, nullptr) << dlerror();
    fake = reinterpret_cast<FakeCuda *(*)()>(dlsym(driver, "fakeCuda"))();
  }

  static CaseResult run(const CaseFile &file, int repeats = 0) {
    qm_library *library = probe::gpuLibrary({"sm_80:cubin"});
    std::unique_ptr<CaseMemory> memory;
    EXPECT_EQ(makeGpuMemory(0, memory), QM_OK) << qm_last_error();
    CaseResult result =
        runCase(file, probe::kernelOf(library), *memory, repeats);
    qm_library_destroy(library);
    return result;
  }

  static FakeCuda *fake;
};

FakeCuda *RunCaseOnGpu::fake = nullptr;

TEST_F(RunCaseOnGpu, AGoodCasePasses) {
  fake->kernel = probe::run;
  CaseResult result = run(probe::makeCase(), 3);
  EXPECT_TRUE(result.passed) << result.flaw;
  EXPECT_EQ(result.milliseconds, 0.25);
}

TEST_F(RunCaseOnGpu, AKernelThatWritesNothingFails) {
  fake->kernel = nullptr;
  CaseResult result = run(probe::makeCase());
  EXPECT_FALSE(result.passed);
  EXPECT_NE(result.flaw.find("'o'[0, 0, 0, 0] is"), std::string::npos)
      << result.flaw;
}

/// Leaves out the last tile.
void forgetful(const int64_t *slots, int64_t begin, int64_t end) {
  probe::run(slots, begin, end - 1);
}

TEST_F(RunCaseOnGpu, AForgottenTileFails) {
  fake->kernel = forgetful;
  CaseResult result = run(probe::makeCase());
  EXPECT_NE(result.flaw.find("'o'[1, 3, 4, 0] is"), std::string::npos)
      << result.flaw;
}

/// Differs in the last bit of one element every second run.
void moody(const int64_t *slots, int64_t begin, int64_t end) {
  static int calls = 0;
  probe::run(slots, begin, end);
  if (++calls % 2 == 0)
    *reinterpret_cast<uint32_t *>(slots[32]) ^= 1;
}

TEST_F(RunCaseOnGpu, OtherBitsInASecondRunFail) {
  fake->kernel = moody;
  CaseFile file = probe::makeCase();
  file.arguments[6].relative = 1e-3;
  EXPECT_EQ(run(file).flaw, "'o' has other bits in a second run");
}

TEST_F(RunCaseOnGpu, AKernelThatFaultsFails) {
  fake->kernel = probe::run;
  fake->failingFunction = "cuStreamSynchronize";
  fake->failure = 700;
  EXPECT_NE(
      run(probe::makeCase()).flaw.find("the kernel failed: CUDA error 700"),
      std::string::npos);
  fake->failingFunction = "cuMemAlloc";
  fake->failure = 2;
  EXPECT_NE(run(probe::makeCase()).flaw.find("cannot allocate device memory"),
            std::string::npos);
  fake->failingFunction = nullptr;
}

} // namespace
