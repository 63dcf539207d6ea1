// Reports 46 and 47: attention sinks, the row maximum.
#include "test/contract/RowCases.h"

#include "gtest/gtest.h"

using namespace qm;
using namespace qm::contract;

namespace {

TEST(UserReports, Row46_SinksJoinTheDenominator) {
  checkRow("Row46");
  Shape shape = {4, 4, 1, 1, 1, 64, 64};
  Program program(Element::F32, shape, [](Spec &spec) {
    spec.scale(1).mask(causal(TopLeft));
    spec.sink([](Batch, Head) { return 0.f; });
  });
  Call call = k4Call(Element::F32, shape);
  program.run(call);
  const double o[] = {0.622459, 0.775623, 1.445939, 2.376394};
  for (int64_t row = 0; row < 4; ++row)
    EXPECT_NEAR(call.o.values()[64 * row], o[row], 1e-6);
}

// No keys at all: O = 0 and lse = sink.
TEST(UserReports, Row46_SinkWithoutKeys) {
  Shape shape = {3, 0, 1, 1, 1, 64, 64};
  Program program(Element::F32, shape, [](Spec &spec) {
    spec.sink([](Batch, Head) { return 1.25f; });
  });
  Call call = randomCall(Element::F32, shape);
  program.run(call);
  for (double o : call.o.values())
    EXPECT_EQ(o, 0);
  for (double lse : call.lse.values())
    EXPECT_NEAR(lse, 1.25, 2e-7);
}

// A sink of -infinity is no sink, to the bit.
TEST(UserReports, Row46_NoSinkIsNoSink) {
  Shape shape = {150, 150, 1, 2, 1, 32, 32};
  auto program = [&](bool sink) {
    return Program(Element::F32, shape, [=](Spec &spec) {
      spec.mask(causal(TopLeft));
      if (sink)
        spec.sink([](Batch, Head) { return -qm::infinity; });
    });
  };
  Call with = randomCall(Element::F32, shape), without = with;
  without.resetOutputs();
  program(true).run(with);
  program(false).run(without);
  expectSameBits(with, without);
}

TEST(UserReports, Row47_RowMaximum) {
  checkRow("Row47");
  Shape shape = {4, 4, 1, 1, 1, 64, 64};
  Program program(Element::F32, shape, [](Spec &spec) {
    spec.scale(1).mask(causal(TopLeft)).returnRowMax();
  });
  Call call = k4Call(Element::F32, shape);
  call.addRowMax();
  program.run(call);
  EXPECT_EQ(call.rowMax.values(), (std::vector<double>{0.5, 1, 1, 1}));
}

} // namespace
