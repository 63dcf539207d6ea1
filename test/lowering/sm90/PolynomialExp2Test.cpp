// The polynomial for exponentials, in f32 as the kernel computes it, against
// double precision.
#include "lowering/sm90/PolynomialExp2.h"

#include <gtest/gtest.h>

#include <cmath>

using namespace qm::sm90;

static double evaluate(float x) {
  float n = std::nearbyintf(x), f = x - n, p = exp2Coefficients[0];
  for (unsigned i = 1; i < std::size(exp2Coefficients); ++i)
    p = std::fmaf(p, f, exp2Coefficients[i]);
  return std::ldexp(double(std::fmaf(p, f, 1.0f)), int(n));
}

TEST(PolynomialExp2, IsAsExactAsTheSpecialFunction) {
  double largest = 0;
  for (float x = -125.0f; x < 100.0f; x += 0x1.9p-11f)
    largest =
        std::max(largest, std::abs(evaluate(x) / std::exp2(double(x)) - 1));
  EXPECT_LT(largest, 1.7e-7);
}

TEST(PolynomialExp2, PowersOfTwoAreExact) {
  for (int n = -125; n < 100; ++n)
    EXPECT_EQ(evaluate(float(n)), std::ldexp(1.0, n));
}

TEST(PolynomialExp2, AreSpreadEvenly) {
  for (int64_t ofSixteen = 0; ofSixteen <= 16; ++ofSixteen)
    for (unsigned first = 0; first < 64; first += 16) {
      int64_t count = 0;
      for (unsigned e = first; e < first + 16; ++e)
        count += isPolynomial(e, ofSixteen);
      EXPECT_EQ(count, ofSixteen);
    }
}
