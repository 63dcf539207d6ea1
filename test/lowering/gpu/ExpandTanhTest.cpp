// Both forms of tanh, in f32 as the kernels compute them, against double
// precision.
#include "lowering/gpu/ExpandTanh.h"

#include <gtest/gtest.h>

#include <cmath>

using namespace qm::gpu;

/// x p(x^2)
static double evaluate(const TanhPolynomial &polynomial, float x) {
  float square = x * x, p = float(polynomial.coefficients.front());
  for (double coefficient : polynomial.coefficients.drop_front())
    p = std::fmaf(p, square, float(coefficient));
  return double(x * p);
}

static double usual(float x) { return evaluate(shortTanh, x); }

/// 1 - 2 / (1 + e), with the divisor limited as one that shares a reciprocal,
/// and e and the reciprocal off by as much as the machine's: 2^-22 and 2^-23 of
/// themselves.
static double general(float x, float errorOfExponential,
                      float errorOfReciprocal) {
  float exponent = x * float(2.0 * M_LOG2E);
  float e = float(std::exp2(double(exponent))) * (1 + errorOfExponential);
  float divisor = std::min(std::fmaf(e, 0x1p-25f, 0x1p-25f), 1.0f);
  float reciprocal = (1 / divisor) * (1 + errorOfReciprocal);
  return 1.0 + double(reciprocal * (-2.0f * 0x1p-25f));
}

TEST(ExpandTanh, NearZeroAPolynomialIsAsExactAsTheFormForAllArguments) {
  double largest = 0, largestOfGeneral = 0;
  for (float x = float(-shortTanh.limit); x <= float(shortTanh.limit);
       x += 0x1p-18f) {
    double exact = std::tanh(double(x));
    largest = std::max(largest, std::abs(usual(x) - exact));
    for (float sign : {-1.0f, 1.0f})
      largestOfGeneral = std::max(
          largestOfGeneral,
          std::abs(general(x, sign * 0x1p-22f, -sign * 0x1p-23f) - exact));
  }
  EXPECT_LT(largest, 3.0e-7);
  EXPECT_LT(largestOfGeneral, 5e-7);
}

/// What scores that are seen in f32 (lse, f32 operands) are made of.
TEST(ExpandTanh, TheExactFormsErrRelativeToThemselves) {
  for (float x = 0x1p-20f; x <= float(exactTanh.limit); x += 0x1p-20f) {
    double exact = std::tanh(double(x));
    ASSERT_LT(std::abs(evaluate(exactTanh, x) - exact), 1.7e-7 * exact) << x;
  }
  for (float x = float(exactTanh.limit); x < 20; x += 0x1p-16f)
    for (float sign : {-1.0f, 1.0f})
      ASSERT_NEAR(general(x, sign * 0x1p-22f, -sign * 0x1p-23f),
                  std::tanh(double(x)), 1.2e-6 * std::tanh(double(x)))
          << x;
}

TEST(ExpandTanh, TheGeneralFormHoldsForAllArguments) {
  for (float x = -120.0f; x < 120.0f; x += 0x1p-10f)
    for (float sign : {-1.0f, 1.0f})
      ASSERT_NEAR(general(x, sign * 0x1p-22f, -sign * 0x1p-23f),
                  std::tanh(double(x)), 5e-7)
          << x;
  for (float x : {1e4f, 1e30f, INFINITY}) {
    EXPECT_NEAR(general(x, 0, 0), 1, 0x1p-24);
    EXPECT_EQ(general(-x, 0, 0), -1);
  }
}

TEST(ExpandTanh, AResultOfNearZeroHasTheSignOfItsArgument) {
  for (float x : {0.0f, -0.0f, 1e-30f, -1e-30f, 1e-4f, -1e-4f}) {
    EXPECT_EQ(std::signbit(usual(x)), std::signbit(x));
    EXPECT_NEAR(usual(x), x, std::abs(x) * 6e-6);
  }
}
