// Reports 5, 7, 8, 9 and 11: the base of lse, NaN past lengths, tails, and
// memory that ends where the sequence ends.
#include "test/contract/GuardedCall.h"
#include "test/contract/RowCases.h"

#include "gtest/gtest.h"

#include <cmath>

using namespace qm;
using namespace qm::contract;

namespace {

TEST(UserReports, Row05_LseIsNaturalLogarithm) {
  checkRow("Row05");
  Shape shape = {1, 8, 1, 1, 1, 64, 64};
  for (Element type : {Element::F32, Element::BF16, Element::F16}) {
    Program program(type, shape, [](Spec &) {});
    Call call = uniformProbe(type, shape);
    program.run(call);
    EXPECT_NEAR(call.lse.values()[0], 2.0794415, 1e-6); // not 3, not 1.4413
  }
}

// All scores alike: a shift leaves the bits of O.
TEST(UserReports, Row07_PaddingIsMinusInfinity) {
  checkRow("Row07", [](const Program &program, const RowCall &rowCall,
                       const Call &call) {
    if (!rowCall.keep)
      return;
    Call unshifted = call;
    unshifted.captures = {0.0f};
    unshifted.resetOutputs();
    program.run(unshifted);
    EXPECT_EQ(call.o.values(), unshifted.o.values());
  });
}

TEST(UserReports, Row08_NaNPastTheLengthIsNeverUsed) { checkRow("Row08"); }

TEST(UserReports, Row09_TailIsAlwaysMasked) { checkRow("Row09"); }

// A read or write one element past any tensor or buffer, on either side, ends
// the program.
TEST(UserReports, Row11_NothingOutsideTheBuffersIsTouched) {
  checkRow("Row11", [](const Program &program, const RowCall &rowCall,
                       const Call &call) {
    for (bool atEnd : {true, false}) {
      GuardedCall guarded(call, atEnd);
      guarded.call.o.fill(std::nan(""));
      guarded.call.lse.fill(std::nan(""));
      program.run(guarded.call);
      expectNear(guarded.call, uniformTruth(guarded.call, rowCall.keep));
    }
  });
}

} // namespace
