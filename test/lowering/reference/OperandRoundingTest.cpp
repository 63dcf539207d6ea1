// f32 rounded as matrix units take it, against bounds and exact cases.
#include "lowering/reference/OperandRounding.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>

using namespace qm::reference;

TEST(OperandRounding, KeepsWhatFits) {
  for (float value : {0.0f, -0.0f, 1.0f, -2.5f, 1.0f + 0x1p-10f, 0x1p-100f})
    for (WideProducts products : {WideProducts::Tf32, WideProducts::Bf16x3})
      EXPECT_EQ(roundOperand(products, value), value);
  // Sixteen bits are two bf16.
  EXPECT_EQ(roundOperand(WideProducts::Bf16x3, 32769.0f), 32769.0f);
  EXPECT_EQ(roundOperand(WideProducts::Bf16x3, 1.0f + 0x1p-15f),
            1.0f + 0x1p-15f);
}

TEST(OperandRounding, Tf32RoundsToNearestTiesAway) {
  EXPECT_EQ(roundOperand(WideProducts::Tf32, 1.0f + 0x1p-11f), 1.0f + 0x1p-10f);
  EXPECT_EQ(roundOperand(WideProducts::Tf32, -1.0f - 0x1p-11f),
            -1.0f - 0x1p-10f);
  EXPECT_EQ(roundOperand(WideProducts::Tf32, 1.0f + 0x1p-12f), 1.0f);
}

TEST(OperandRounding, ErrorsAreWithinTheFormat) {
  std::mt19937 generator(1);
  std::normal_distribution<float> normal;
  for (int i = 0; i < 10000; ++i) {
    float value = normal(generator);
    EXPECT_LE(std::fabs(roundOperand(WideProducts::Tf32, value) - value),
              0x1p-11f * std::fabs(value));
    EXPECT_LE(std::fabs(roundOperand(WideProducts::Bf16x3, value) - value),
              0x1p-17f * std::fabs(value));
  }
}

TEST(OperandRounding, InfinityAndNaNStay) {
  float infinity = std::numeric_limits<float>::infinity();
  for (WideProducts products : {WideProducts::Tf32, WideProducts::Bf16x3}) {
    EXPECT_EQ(roundOperand(products, infinity), infinity);
    EXPECT_TRUE(std::isnan(roundOperand(products, std::nanf(""))));
  }
}

// Views with strides and the other arguments.
TEST(OperandRounding, RoundsTheThreeOperandsOnly) {
  HostTensor operand(DType::F32, {1, 2, 3, 4}, {0, 2, 1, 3}),
      other(DType::F32, {2});
  for (int64_t at = 0; at < 24; ++at)
    storeFloat(operand.view(), at, 1 + at * 0x1p-12);
  storeFloat(other.view(), 1, 1 + 0x1p-12);
  std::vector<Argument> arguments = {operand.view(), operand.view(),
                                     operand.view(), other.view(), 3.0f};
  RoundedArguments rounded(arguments, WideProducts::Tf32);
  ASSERT_EQ(rounded.get().size(), arguments.size());
  for (unsigned i = 0; i < 3; ++i) {
    const auto &view = std::get<TensorView>(rounded.get()[i]);
    for (int64_t h = 0; h < 2; ++h)
      for (int64_t s = 0; s < 3; ++s)
        for (int64_t d = 0; d < 4; ++d) {
          llvm::SmallVector<int64_t, 4> index = {0, h, s, d};
          float before = static_cast<float>(
              loadFloat(operand.view(), operand.view().offset(index)));
          EXPECT_EQ(loadFloat(view, view.offset(index)),
                    roundOperand(WideProducts::Tf32, before));
        }
  }
  EXPECT_EQ(loadFloat(std::get<TensorView>(rounded.get()[3]), 1), 1 + 0x1p-12);
}
