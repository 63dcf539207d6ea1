//===- TileCountersTest.cpp - kernels with a run-time order of tiles ------===//

#include "test/runtime/CudaFixture.h"

#include <set>

using probe::Arguments;

namespace {

const char *const withCounters = R"("ctas_per_sm": 1, "tile_counters": 3)";

class TileCounters : public CudaFixture {
protected:
  void SetUp() override {
    CudaFixture::SetUp();
    fake().tileCounter = true;
    kernel = load({"sm_80:ptx"}, withCounters);
  }
  void TearDown() override {
    fake().tileCounter = false;
    CudaFixture::TearDown();
  }
  int counterOf(FakeStream &stream) {
    EXPECT_EQ(launch(kernel, Arguments(gpu0), &stream), QM_OK)
        << qm_last_error();
    return fake().last.tileCounter;
  }
  const qm_kernel *kernel;
};

TEST_F(TileCounters, AStreamKeepsItsCounterAndSharesItWithNoOther) {
  FakeContext *context = &fake().primary[0];
  FakeStream a = {context, 7}, b = {context, 10}, c = {context, 12};
  int ofA = counterOf(a), ofB = counterOf(b), ofC = counterOf(c);
  EXPECT_EQ((std::set<int>{ofA, ofB, ofC}), (std::set<int>{0, 1, 2}));
  EXPECT_EQ(counterOf(b), ofB);
  EXPECT_EQ(counterOf(a), ofA);
  // A fourth stream has to do without.
  FakeStream d = {context, 13};
  EXPECT_EQ(counterOf(d), -1);
  // A new stream at an old one's address is another stream.
  a.id = 14;
  EXPECT_EQ(counterOf(a), -1);
}

TEST_F(TileCounters, AGraphMayRunBesideItselfAndGetsNone) {
  FakeStream stream = {&fake().primary[0], 7, /*capturing=*/true};
  EXPECT_EQ(counterOf(stream), -1);
  stream.capturing = false;
  EXPECT_GE(counterOf(stream), 0);
}

TEST_F(TileCounters, AStreamThatCannotBeToldApartGetsNone) {
  fake().failingFunction = "cuStreamGetId";
  fake().failure = 400;
  FakeStream stream = {&fake().primary[0], 7};
  EXPECT_EQ(counterOf(stream), -1);
  fake().failingFunction = nullptr;
}

} // namespace
