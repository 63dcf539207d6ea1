// Interval arithmetic that emits IR.
#include "passes/Interval.h"

#include <algorithm>

using namespace mlir;
using namespace qm::passes;
using arith::CmpIPredicate;

static bool fits(int64_t smin, int64_t smax) {
  return smin >= INT32_MIN && smax <= INT32_MAX;
}

//===----------------------------------------------------------------------===//
// Making intervals
//===----------------------------------------------------------------------===//

Value IntervalBuilder::constant(int64_t value) {
  return arith::ConstantOp::create(b, loc, b.getI32IntegerAttr(value));
}
Value IntervalBuilder::constantBool(bool value) {
  return arith::ConstantOp::create(b, loc, b.getBoolAttr(value));
}

Interval IntervalBuilder::makeExact(Value value, int64_t smin, int64_t smax) {
  Interval result;
  result.exact = value;
  result.smin = smin, result.smax = smax;
  return result;
}
Interval IntervalBuilder::makeRange(Value lo, Value hi, int64_t smin,
                                    int64_t smax) {
  Interval result;
  result.lo = lo, result.hi = hi;
  result.smin = smin, result.smax = smax;
  return result;
}
Interval IntervalBuilder::makePredicate(Value canTrue, Value canFalse) {
  Interval result;
  result.canTrue = canTrue, result.canFalse = canFalse;
  return result;
}
Interval IntervalBuilder::makeBetween(int64_t smin, int64_t smax) {
  return makeRange(constant(smin), constant(smax), smin, smax);
}

Interval IntervalBuilder::asRange(Interval x) {
  if (x.lo)
    return x;
  if (x.exact && x.exact.getType().isInteger(32))
    return makeRange(x.exact, x.exact, x.smin, x.smax);
  if (x.exact &&
      (x.exact.getType().isInteger(8) || x.exact.getType().isInteger(16)))
    return fromElements(x.exact, x.exact);
  return makeBetween(INT32_MIN, INT32_MAX);
}
Interval IntervalBuilder::fromElements(Value lo, Value hi) {
  unsigned width = lo.getType().getIntOrFloatBitWidth();
  if (width == 64)
    return narrow(lo, hi, INT64_MIN, INT64_MAX);
  if (width == 32)
    return makeRange(lo, hi, INT32_MIN, INT32_MAX);
  auto extend = [&](Value v) -> Value {
    return arith::ExtSIOp::create(b, loc, b.getI32Type(), v);
  };
  int64_t half = int64_t(1) << (width - 1);
  return makeRange(extend(lo), extend(hi), -half, half - 1);
}
Interval IntervalBuilder::asPredicate(Interval x) {
  if (x.canTrue)
    return x;
  if (x.exact && x.exact.getType().isInteger(1))
    return makePredicate(
        x.exact, arith::XOrIOp::create(b, loc, x.exact, constantBool(true)));
  return makePredicate(constantBool(true), constantBool(true));
}

//===----------------------------------------------------------------------===//
// Arithmetic
//===----------------------------------------------------------------------===//

Value IntervalBuilder::widen(Value value) {
  return arith::ExtSIOp::create(b, loc, b.getI64Type(), value);
}

Interval IntervalBuilder::narrow(Value lo64, Value hi64, int64_t smin,
                                 int64_t smax) {
  auto constant64 = [&](int64_t value) {
    return arith::ConstantOp::create(b, loc, b.getI64IntegerAttr(value));
  };
  Value below = cmp(CmpIPredicate::slt, lo64, constant64(INT32_MIN));
  Value above = cmp(CmpIPredicate::sgt, hi64, constant64(INT32_MAX));
  Value wraps = either(below, above);
  auto bound = [&](Value exact, int64_t whole) -> Value {
    Value chosen =
        arith::SelectOp::create(b, loc, wraps, constant64(whole), exact);
    return arith::TruncIOp::create(b, loc, b.getI32Type(), chosen);
  };
  return makeRange(bound(lo64, INT32_MIN), bound(hi64, INT32_MAX), INT32_MIN,
                   INT32_MAX);
}

Interval IntervalBuilder::add(Interval x, Interval y) {
  x = asRange(x), y = asRange(y);
  int64_t smin = x.smin + y.smin, smax = x.smax + y.smax;
  auto sum = [&](Value u, Value v) -> Value {
    return arith::AddIOp::create(b, loc, u, v);
  };
  if (fits(smin, smax))
    return makeRange(sum(x.lo, y.lo), sum(x.hi, y.hi), smin, smax);
  return narrow(sum(widen(x.lo), widen(y.lo)), sum(widen(x.hi), widen(y.hi)),
                smin, smax);
}

Interval IntervalBuilder::sub(Interval x, Interval y) {
  x = asRange(x), y = asRange(y);
  int64_t smin = x.smin - y.smax, smax = x.smax - y.smin;
  auto difference = [&](Value u, Value v) -> Value {
    return arith::SubIOp::create(b, loc, u, v);
  };
  if (fits(smin, smax))
    return makeRange(difference(x.lo, y.hi), difference(x.hi, y.lo), smin,
                     smax);
  return narrow(difference(widen(x.lo), widen(y.hi)),
                difference(widen(x.hi), widen(y.lo)), smin, smax);
}

Interval IntervalBuilder::mul(Interval x, Interval y) {
  x = asRange(x), y = asRange(y);
  int64_t corners[] = {x.smin * y.smin, x.smin * y.smax, x.smax * y.smin,
                       x.smax * y.smax};
  auto [smin, smax] =
      std::minmax_element(std::begin(corners), std::end(corners));
  // The extremes of a product of intervals lie at corners; four products in 64
  // bits cannot overflow.
  SmallVector<Value> products;
  for (Value u : {x.lo, x.hi})
    for (Value v : {y.lo, y.hi})
      products.push_back(arith::MulIOp::create(b, loc, widen(u), widen(v)));
  Value lo = products[0], hi = products[0];
  for (Value product : llvm::drop_begin(products)) {
    lo = arith::MinSIOp::create(b, loc, lo, product);
    hi = arith::MaxSIOp::create(b, loc, hi, product);
  }
  if (!fits(*smin, *smax))
    return narrow(lo, hi, *smin, *smax);
  auto trunc = [&](Value v) -> Value {
    return arith::TruncIOp::create(b, loc, b.getI32Type(), v);
  };
  return makeRange(trunc(lo), trunc(hi), *smin, *smax);
}

static int64_t floorDivide(int64_t a, int64_t d) {
  return a / d - (a % d < 0 ? 1 : 0);
}

Interval IntervalBuilder::floorDiv(Interval x, int64_t divisor) {
  assert(divisor > 0 && "only positive constants keep the order");
  x = asRange(x);
  Value d = constant(divisor);
  auto divide = [&](Value v) -> Value {
    return arith::FloorDivSIOp::create(b, loc, v, d);
  };
  return makeRange(divide(x.lo), divide(x.hi), floorDivide(x.smin, divisor),
                   floorDivide(x.smax, divisor));
}

Interval IntervalBuilder::truncDiv(Interval x, int64_t divisor) {
  assert(divisor > 0 && "only positive constants keep the order");
  x = asRange(x);
  Value d = constant(divisor);
  auto divide = [&](Value v) -> Value {
    return arith::DivSIOp::create(b, loc, v, d);
  };
  return makeRange(divide(x.lo), divide(x.hi), x.smin / divisor,
                   x.smax / divisor);
}

Interval IntervalBuilder::ceilDiv(Interval x, int64_t divisor) {
  assert(divisor > 0 && "only positive constants keep the order");
  x = asRange(x);
  Value d = constant(divisor);
  auto divide = [&](Value v) -> Value {
    return arith::CeilDivSIOp::create(b, loc, v, d);
  };
  return makeRange(divide(x.lo), divide(x.hi), -floorDivide(-x.smin, divisor),
                   -floorDivide(-x.smax, divisor));
}

Interval IntervalBuilder::floorMod(Interval x, int64_t divisor) {
  assert(divisor > 0 && "only positive constants have a range of their own");
  x = asRange(x);
  Value d = constant(divisor);
  auto quotient = [&](Value v) -> Value {
    return arith::FloorDivSIOp::create(b, loc, v, d);
  };
  auto remainder = [&](Value v, Value q) -> Value {
    Value product = arith::MulIOp::create(b, loc, q, d);
    return arith::SubIOp::create(b, loc, v, product);
  };
  Value qlo = quotient(x.lo), qhi = quotient(x.hi);
  // Both ends in one period: remainders keep their order. Otherwise the range
  // holds a multiple of the divisor.
  Value onePeriod = cmp(CmpIPredicate::eq, qlo, qhi);
  Value lo = arith::SelectOp::create(b, loc, onePeriod, remainder(x.lo, qlo),
                                     constant(0));
  Value hi = arith::SelectOp::create(b, loc, onePeriod, remainder(x.hi, qhi),
                                     constant(divisor - 1));
  return makeRange(lo, hi, 0, divisor - 1);
}

Interval IntervalBuilder::shiftRight(Interval x, int64_t amount) {
  x = asRange(x);
  Value n = constant(amount);
  auto shift = [&](Value v) -> Value {
    return arith::ShRSIOp::create(b, loc, v, n);
  };
  return makeRange(shift(x.lo), shift(x.hi), x.smin >> amount,
                   x.smax >> amount);
}

Interval IntervalBuilder::min(Interval x, Interval y) {
  x = asRange(x), y = asRange(y);
  return makeRange(arith::MinSIOp::create(b, loc, x.lo, y.lo),
                   arith::MinSIOp::create(b, loc, x.hi, y.hi),
                   std::min(x.smin, y.smin), std::min(x.smax, y.smax));
}
Interval IntervalBuilder::max(Interval x, Interval y) {
  x = asRange(x), y = asRange(y);
  return makeRange(arith::MaxSIOp::create(b, loc, x.lo, y.lo),
                   arith::MaxSIOp::create(b, loc, x.hi, y.hi),
                   std::max(x.smin, y.smin), std::max(x.smax, y.smax));
}

//===----------------------------------------------------------------------===//
// Predicates
//===----------------------------------------------------------------------===//

Value IntervalBuilder::cmp(CmpIPredicate predicate, Value x, Value y) {
  return arith::CmpIOp::create(b, loc, predicate, x, y);
}
Value IntervalBuilder::both(Value x, Value y) {
  return arith::AndIOp::create(b, loc, x, y);
}
Value IntervalBuilder::either(Value x, Value y) {
  return arith::OrIOp::create(b, loc, x, y);
}

Interval IntervalBuilder::compare(CmpIPredicate predicate, Interval x,
                                  Interval y) {
  x = asRange(x), y = asRange(y);
  switch (predicate) {
  case CmpIPredicate::slt:
    return makePredicate(cmp(CmpIPredicate::slt, x.lo, y.hi),
                         cmp(CmpIPredicate::sge, x.hi, y.lo));
  case CmpIPredicate::sle:
    return makePredicate(cmp(CmpIPredicate::sle, x.lo, y.hi),
                         cmp(CmpIPredicate::sgt, x.hi, y.lo));
  case CmpIPredicate::sgt:
    return compare(CmpIPredicate::slt, y, x);
  case CmpIPredicate::sge:
    return compare(CmpIPredicate::sle, y, x);
  case CmpIPredicate::eq: {
    Value overlap = both(cmp(CmpIPredicate::sle, x.lo, y.hi),
                         cmp(CmpIPredicate::sle, y.lo, x.hi));
    // Different for some pair unless both are the same single value.
    Value differ = either(cmp(CmpIPredicate::ne, x.lo, y.hi),
                          cmp(CmpIPredicate::ne, x.hi, y.lo));
    return makePredicate(overlap, differ);
  }
  case CmpIPredicate::ne: {
    Interval equal = compare(CmpIPredicate::eq, x, y);
    return makePredicate(equal.canFalse, equal.canTrue);
  }
  default: // unsigned order follows signed order only where nothing is negative
    if (x.smin >= 0 && y.smin >= 0) {
      switch (predicate) {
      case CmpIPredicate::ult:
        return compare(CmpIPredicate::slt, x, y);
      case CmpIPredicate::ule:
        return compare(CmpIPredicate::sle, x, y);
      case CmpIPredicate::ugt:
        return compare(CmpIPredicate::sgt, x, y);
      default:
        return compare(CmpIPredicate::sge, x, y);
      }
    }
    return makePredicate(constantBool(true), constantBool(true));
  }
}

Interval IntervalBuilder::logicalAnd(Interval x, Interval y) {
  x = asPredicate(x), y = asPredicate(y);
  return makePredicate(both(x.canTrue, y.canTrue),
                       either(x.canFalse, y.canFalse));
}
Interval IntervalBuilder::logicalOr(Interval x, Interval y) {
  x = asPredicate(x), y = asPredicate(y);
  return makePredicate(either(x.canTrue, y.canTrue),
                       both(x.canFalse, y.canFalse));
}
Interval IntervalBuilder::logicalXor(Interval x, Interval y) {
  x = asPredicate(x), y = asPredicate(y);
  return makePredicate(
      either(both(x.canTrue, y.canFalse), both(x.canFalse, y.canTrue)),
      either(both(x.canTrue, y.canTrue), both(x.canFalse, y.canFalse)));
}

Interval IntervalBuilder::select(Interval condition, Interval x, Interval y) {
  Interval c = asPredicate(condition);
  bool predicate = x.canTrue || y.canTrue ||
                   (x.exact && x.exact.getType().isInteger(1)) ||
                   (y.exact && y.exact.getType().isInteger(1));
  if (predicate) {
    x = asPredicate(x), y = asPredicate(y);
    return makePredicate(
        either(both(c.canTrue, x.canTrue), both(c.canFalse, y.canTrue)),
        either(both(c.canTrue, x.canFalse), both(c.canFalse, y.canFalse)));
  }
  x = asRange(x), y = asRange(y);
  // Only the sides that can be chosen count.
  auto pick = [&](Value whenTrue, Value whenFalse, Value hull) -> Value {
    Value inner = arith::SelectOp::create(b, loc, c.canFalse, hull, whenTrue);
    return arith::SelectOp::create(b, loc, c.canTrue, inner, whenFalse);
  };
  Value lo = pick(x.lo, y.lo, arith::MinSIOp::create(b, loc, x.lo, y.lo));
  Value hi = pick(x.hi, y.hi, arith::MaxSIOp::create(b, loc, x.hi, y.hi));
  return makeRange(lo, hi, std::min(x.smin, y.smin), std::max(x.smax, y.smax));
}
