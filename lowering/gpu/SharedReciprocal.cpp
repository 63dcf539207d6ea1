// One reciprocal for several divisions.
#include "lowering/gpu/SharedReciprocal.h"

#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace qm;
using namespace qm::gpu;

/// Divisors lie between the inverse of this and this: four of them have a
/// product.
static constexpr double largestDivisor = 0x1.1p31;
/// Where that need not be so larger ones are taken for `enough`, if all are at
/// least this.
static constexpr double leastDivisor = 0.5;
static constexpr float enough = 0x1p25f;

static bool allows(arith::DivFOp divide, arith::FastMathFlags flag) {
  return bitEnumContainsAny(divide.getFastmath(), flag);
}

bool qm::gpu::canShareReciprocal(arith::DivFOp divide,
                                 lowering::FloatRange divisor) {
  if (!divide.getType().isF32() ||
      !matchPattern(divide.getLhs(), m_Constant()) ||
      !allows(divide, arith::FastMathFlags::arcp))
    return false;
  if (allows(divide, arith::FastMathFlags::afn))
    return divisor.low >= leastDivisor;
  return divisor.low >= 1 / largestDivisor && divisor.high <= largestDivisor;
}

static Value constant(LocBuilder &b, float value) {
  return arith::ConstantOp::create(b, b.getF32FloatAttr(value));
}

/// The last multiplication of a quotient may be one fma with what is added.
static Value multiply(LocBuilder &b, Value x, Value y) {
  return arith::MulFOp::create(b, x, y, arith::FastMathFlags::contract);
}

static Value product(LocBuilder &b, ArrayRef<Value> factors) {
  if (factors.size() == 1)
    return factors.front();
  size_t half = factors.size() / 2;
  return multiply(b, product(b, factors.take_front(half)),
                  product(b, factors.drop_front(half)));
}

/// `inverse` is 1 over the product of `factors`; each of them becomes its own.
static void divideOut(LocBuilder &b, MutableArrayRef<Value> factors,
                      Value inverse) {
  if (factors.size() == 1) {
    factors.front() = inverse;
    return;
  }
  auto left = factors.take_front(factors.size() / 2),
       right = factors.drop_front(factors.size() / 2);
  Value ofLeft = multiply(b, inverse, product(b, right)),
        ofRight = multiply(b, inverse, product(b, left));
  divideOut(b, left, ofLeft);
  divideOut(b, right, ofRight);
}

Values
qm::gpu::emitSharedReciprocal(LocBuilder &b, arith::DivFOp divide,
                              unsigned count,
                              function_ref<Value(unsigned, Value)> valueOf) {
  Value divisor = divide.getRhs(), numerator = valueOf(0, divide.getLhs());
  Values divisors;
  if (!allows(divide, arith::FastMathFlags::afn)) {
    for (unsigned element = 0; element < count; ++element)
      divisors.push_back(valueOf(element, divisor));
  } else {
    // min(divisor, enough) / enough: a limit of 1 costs nothing, nor does it as
    // part of a sum that the divisor is.
    Value inverse = constant(b, 1 / enough), addend = constant(b, 0.0f);
    FloatAttr summand;
    if (auto sum = divisor.getDefiningOp<arith::AddFOp>();
        sum && matchPattern(sum.getRhs(), m_Constant(&summand))) {
      divisor = sum.getLhs();
      addend = constant(b, float(summand.getValueAsDouble()) / enough);
    }
    for (unsigned element = 0; element < count; ++element)
      divisors.push_back(
          nvvm::fmaSaturated(b, valueOf(element, divisor), inverse, addend));
    numerator = multiply(b, numerator, inverse);
  }
  divideOut(b, divisors,
            multiply(b, nvvm::rcpApprox(b, product(b, divisors)), numerator));
  return divisors;
}
