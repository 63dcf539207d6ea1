// --target=gpu on the fake driver: its "device" computes with the kernel for
// this CPU, so a call's whole way (pack, upload, launch, download) shows.
#include "qmc/Machine.h"
#include "lowering/cpu/Jit.h"
#include "qmc/SpecFunctions.h"
#include "test/runtime/fake_cuda.h"

#include "mlir/Parser/Parser.h"
#include "gtest/gtest.h"

#include <cstdlib>
#include <cstring>
#include <dlfcn.h>

using namespace mlir;
using namespace qm;
using namespace qm::driver;
using reference::TensorView;

namespace {

constexpr const char *spec = R"(
func.func @plain(%q: tensor<?x4x?x64xf16>, %k: tensor<?x2x?x64xf16>,
                 %v: tensor<?x2x?x64xf16>) -> tensor<?x4x?x64xf16> {
  %o = attn.attention q(%q) k(%k) v(%v) : tensor<?x4x?x64xf16>,
       tensor<?x2x?x64xf16>, tensor<?x2x?x64xf16> -> tensor<?x4x?x64xf16>
  return %o : tensor<?x4x?x64xf16>
}
)";
constexpr int64_t slotsOfSpec = 4 * 9;

cpu::TileEntry entry = nullptr;
int64_t tileRows = 0;

/// What the fake GPU runs: the CPU's entry on its own number of tiles. q's
/// extents are slots 1 to 3.
void runOnFakeGpu(const int64_t *slots, int64_t, int64_t) {
  entry(slots, 0, slots[1] * slots[2] * ((slots[3] + tileRows - 1) / tileRows));
}

class MachineTest : public testing::Test {
protected:
  void SetUp() override {
    setenv("QM_CUDA_DRIVER", QM_FAKE_CUDA, 1);
    void *driver = dlopen(QM_FAKE_CUDA, RTLD_NOW);
    ASSERT_TRUE(driver);
    fake = reinterpret_cast<FakeCuda *(*)()>(dlsym(driver, "fakeCuda"))();
    *fake = FakeCuda();
    fake->slots = slotsOfSpec;
    options.sq = 70;
    options.skv = 90;
    options.batch = 2;
    options.target = "gpu";
    module = parseSourceString<ModuleOp>(spec, &session.context);
    ASSERT_TRUE(module);
    function = *module->getOps<func::FuncOp>().begin();
  }

  CallData makeData() {
    auto data = CallData::create(function, options, Layout::Bshd);
    std::memset(data->o().data, 0xFF, 2 * data->o().numElements());
    return std::move(*data);
  }

  FakeCuda *fake = nullptr;
  Options options;
  Session session;
  OwningOpRef<ModuleOp> module;
  func::FuncOp function;
};

TEST_F(MachineTest, RunsACallOnTheDevice) {
  CompilePipeline pipeline(session, options);
  const auto &host = *lowering::findTarget("cpu");
  auto lowered = pipeline.lowerTo(*module, passes::Level::Scheduled, host);
  ASSERT_TRUE(succeeded(lowered));
  tileRows = getKernels(**lowered).front().tileM;
  ASSERT_TRUE(succeeded(pipeline.lowerToCpu(**lowered)));
  auto jit = cpu::Jit::compile(**lowered);
  ASSERT_TRUE(succeeded(jit));
  entry = jit->lookup("plain");
  fake->kernel = runOnFakeGpu;

  auto machine = Machine::open(options);
  ASSERT_TRUE(succeeded(machine));
  EXPECT_EQ((*machine)->name(), "Fake GPU");
  auto targets = (*machine)->targets();
  ASSERT_TRUE(succeeded(targets));
  ASSERT_EQ(targets->size(), 1u);
  EXPECT_EQ(targets->front()->name, "sm_80");
  auto code = (*machine)->compile(session, *module, *targets->front());
  ASSERT_TRUE(succeeded(code));
  CallData onGpu = makeData(), onCpu = makeData();
  {
    auto call = (*code)->bind("plain", onGpu);
    ASSERT_TRUE(succeeded(call));
    ASSERT_TRUE(succeeded((*call)->run()));
    EXPECT_EQ(fake->launches, 1);
    auto timing = measure(**call, 3);
    ASSERT_TRUE(succeeded(timing));
    EXPECT_DOUBLE_EQ(timing->median, 0.25e-3);
    EXPECT_EQ(fake->launches, 5); // one more that is not counted
  }

  options.target = "cpu";
  auto cpuMachine = Machine::open(options);
  ASSERT_TRUE(succeeded(cpuMachine));
  auto cpuCode = (*cpuMachine)->compile(session, *module, host);
  ASSERT_TRUE(succeeded(cpuCode));
  auto cpuCall = (*cpuCode)->bind("plain", onCpu);
  ASSERT_TRUE(succeeded(cpuCall));
  ASSERT_TRUE(succeeded((*cpuCall)->run()));
  EXPECT_EQ(
      std::memcmp(onGpu.o().data, onCpu.o().data, 2 * onCpu.o().numElements()),
      0);
}

TEST_F(MachineTest, ReportsWhatFailsOnTheDevice) {
  auto machine = Machine::open(options);
  ASSERT_TRUE(succeeded(machine));
  auto targets = (*machine)->targets();
  auto code = (*machine)->compile(session, *module, *targets->front());
  ASSERT_TRUE(succeeded(code));
  CallData data = makeData();
  for (auto [function, expected] :
       {std::pair("cuMemAlloc", "cannot allocate device memory"),
        {"cuModuleLoadDataEx", "QM05"},
        {"cuStreamSynchronize", "the kernel failed"}}) {
    fake->failingFunction = function;
    fake->failure = 2;
    testing::internal::CaptureStderr();
    auto call = (*code)->bind("plain", data);
    bool ok = succeeded(call) && succeeded((*call)->run());
    std::string text = testing::internal::GetCapturedStderr();
    EXPECT_FALSE(ok) << function;
    EXPECT_NE(text.find("QM0023: a call on the GPU failed: QM05"),
              std::string::npos)
        << text;
    EXPECT_NE(text.find(expected), std::string::npos) << text;
    fake->failingFunction = nullptr;
  }
}

TEST(FindGpuTarget, IsTheLatestThatRuns) {
  for (auto [major, minor, expected] : {std::tuple(8, 0, "sm_80"),
                                        {8, 6, "sm_86"},
                                        {8, 7, "sm_86"},
                                        {8, 9, "sm_89"},
                                        {9, 0, "sm_90a"},
                                        // sm_90a is for 9.0 alone.
                                        {10, 0, "sm_89"},
                                        {12, 0, "sm_89"}}) {
    const auto *target = findGpuTarget(major, minor);
    ASSERT_TRUE(target) << major << '.' << minor;
    EXPECT_EQ(target->name, expected) << major << '.' << minor;
  }
  EXPECT_EQ(findGpuTarget(5, 2), nullptr);
}

} // namespace
