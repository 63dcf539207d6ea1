//===- Exp2.cpp - base-2 exponential of a vector --------------------------===//
//
// x = k + r with k an integer and |r| <= 1/2; 2^x = 2^k p(r).
//
// Adding 1.5 * 2^23 + 127 to x rounds x to an integer and leaves k + 127, the
// exponent field of 2^k, in the low bits of the sum; a shift puts it in place.
// Multiplying by that power (not adding to the exponent field) keeps NaN a NaN.
// k = -127 gives the field 0, that is the factor +0, so inputs below the normal
// range are sent there.
//
//===----------------------------------------------------------------------===//

#include "lowering/cpu/Exp2.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace qm::cpu;

/// Minimax polynomial of 2^r in relative error on [-1/2, 1/2] with p(0) = 1,
/// highest power first; error 2.0e-9 before rounding.
static constexpr float coefficients[] = {0.00015353361959569156f,
                                         0.0013398873852565885f,
                                         0.00961843691766262f,
                                         0.055503323674201965f,
                                         0.24022647738456726f,
                                         0.6931471824645996f,
                                         1.0f};

Value qm::cpu::emitExp2(VectorBuilder &b, Value x) {
  Value magic = b.f32Vector(12582912.0f + 127.0f);
  Value tooSmall = arith::CmpFOp::create(b, arith::CmpFPredicate::OLT, x,
                                         b.f32Vector(-126.0f));
  x = arith::SelectOp::create(b, tooSmall, b.f32Vector(-127.0f), x);
  Value shifted = arith::AddFOp::create(b, x, magic);
  Value k = arith::SubFOp::create(b, shifted, magic);
  Value r = arith::SubFOp::create(b, x, k);

  Value p = b.f32Vector(coefficients[0]);
  for (float coefficient : ArrayRef(coefficients).drop_front())
    p = b.fma(p, r, b.f32Vector(coefficient));

  auto intVector = b.vectorOf(b.getI32Type());
  Value bits = arith::BitcastOp::create(b, intVector, shifted);
  Value mantissaBits = arith::ConstantOp::create(
      b, DenseElementsAttr::get(intVector, int32_t(23)));
  Value power = arith::BitcastOp::create(
      b, x.getType(), arith::ShLIOp::create(b, bits, mantissaBits));
  return arith::MulFOp::create(b, p, power);
}
