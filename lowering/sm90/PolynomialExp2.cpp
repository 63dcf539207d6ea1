// 2^x = 2^n 2^f with n the integer next to x: a polynomial for 2^f, n added to
// its exponent.
#include "lowering/sm90/PolynomialExp2.h"

#include <limits>

using namespace mlir;
using namespace qm;
using namespace qm::sm90;

/// f32 of this size are integers: adding it rounds to one, in the lowest bits.
static constexpr float integers = 0x1.8p23f;
static constexpr float leastExponent = -125.0f;
static constexpr int64_t mantissaBits = 23;

Value qm::sm90::polynomialExp2(KernelState &state, Value x, float range,
                               bool masked) {
  LocBuilder &b = state.b;
  Value clamped = x;
  if (range > -leastExponent)
    clamped = arith::MaxNumFOp::create(b, x, state.f32(leastExponent));
  Value shifted = arith::AddFOp::create(b, clamped, state.f32(integers));
  Value n = arith::SubFOp::create(b, shifted, state.f32(integers));
  Value f = arith::SubFOp::create(b, clamped, n);
  Value p = state.f32(exp2Coefficients[0]);
  for (float coefficient : ArrayRef(exp2Coefficients).drop_front())
    p = math::FmaOp::create(b, p, f, state.f32(coefficient));
  p = math::FmaOp::create(b, p, f, state.f32(1.0f));
  auto bits = [&](Value value) -> Int {
    return {b, arith::BitcastOp::create(b, b.getI32Type(), value)};
  };
  Int exponent(
      b, arith::ShLIOp::create(b, bits(shifted), state.i32(mantissaBits)));
  Value power = arith::BitcastOp::create(b, b.getF32Type(), bits(p) + exponent);
  if (!masked)
    return power;
  constexpr float infinity = std::numeric_limits<float>::infinity();
  Value absent = arith::CmpFOp::create(b, arith::CmpFPredicate::OEQ, x,
                                       state.f32(-infinity));
  return arith::SelectOp::create(b, absent, state.f32(0.0f), power);
}
