// Reports 12, 13, 31 and 34: groups of heads, strides, head dims.
#include "test/contract/RowCases.h"

#include "gtest/gtest.h"

#include <cmath>

using namespace qm;
using namespace qm::contract;

namespace {

TEST(UserReports, Row12_KvHeadIsFloorOfHeadByGroup) { checkRow("Row12"); }

TEST(UserReports, Row13_AnyGroupDecodes) {
  checkRow("Row13");
  Shape shape = {1, 4096, 1, 12, 2, 16, 16};
  Program program(Element::BF16, shape, [](Spec &) {});
  Call call = uniformProbe(Element::BF16, shape);
  for (int64_t g = 0; g < 2; ++g)
    call.v.slice(1, g, 1).fill(10 * g);
  program.run(call);
  std::vector<double> o = call.o.values();
  for (int64_t h = 0; h < 12; ++h)
    EXPECT_EQ(o[16 * h], 10 * (h / 6)) << h;
}

// What strides reach is what contiguous copies hold: the same bits.
TEST(UserReports, Row31_StridesAreHonoured) {
  checkRow("Row31",
           [](const Program &program, const RowCall &, const Call &strided) {
             Call plain = strided;
             for (Tensor *tensor : {&plain.q, &plain.k, &plain.v}) {
               Tensor compact(tensor->view.dtype, tensor->view.extents);
               copy(*tensor, compact);
               *tensor = compact;
             }
             plain.resetOutputs();
             program.run(plain);
             expectSameBits(strided, plain);
           });
}

TEST(UserReports, Row34_EveryHeadDim) {
  checkRow("Row34");
  for (auto [d, dv] : {std::pair<int64_t, int64_t>(1, 1),
                       {8, 8},
                       {17, 17},
                       {40, 40},
                       {72, 72},
                       {80, 80},
                       {96, 96},
                       {100, 100},
                       {121, 121},
                       {160, 160},
                       {192, 192},
                       {256, 256},
                       {192, 128},
                       {64, 17},
                       {8, 121}}) {
    Element type = (d + dv) % 16 ? Element::F32 : Element::BF16;
    SCOPED_TRACE(testing::Message() << "D " << d << ", Dv " << dv);
    Shape shape = {3, 9, 1, 2, 1, d, dv};
    Program program(type, shape, [](Spec &spec) { spec.scale(1); });
    Call call = uniformProbe(type, shape);
    // q = e_(D-1) and k_j = (j / 4) e_(D-1), exact in every type.
    const TensorView &q = call.q.view, &k = call.k.view;
    call.q.slice(3, d - 1, 1).fill(1);
    call.k.fill(0);
    double sum = 0;
    std::vector<double> weights;
    for (int64_t j = 0; j < shape.keys; ++j) {
      storeFloat(k, k.offset({0, 0, j, d - 1}), j / 4.0);
      weights.push_back(std::exp(j / 4.0));
      sum += weights.back();
    }
    EXPECT_EQ(loadFloat(q, q.offset({0, 1, 2, d - 1})), 1);
    program.run(call);
    double mean = 0;
    for (int64_t j = 0; j < shape.keys; ++j)
      mean += weights[j] / sum * j;
    for (double lse : call.lse.values())
      EXPECT_NEAR(lse, std::log(sum), 1e-6);
    // Rounding P moves the mean by at most its spread, the result by half a
    // unit.
    double allowed =
        type == Element::F32 ? 1e-5 : 2 * mean * unitRoundoff(type);
    for (double value : call.o.values())
      EXPECT_NEAR(value, mean, allowed);
  }
}

} // namespace
