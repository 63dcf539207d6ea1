//===- RegionEvaluator.cpp - runs a region program over keys --------------===//
#include "lowering/reference/RegionEvaluator.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

using namespace qm::reference;

namespace {

/// Keeps the low `width` bits of `value`, sign-extended.
int64_t wrap(int64_t value, unsigned width) {
  unsigned unused = 64 - width;
  return static_cast<int64_t>(static_cast<uint64_t>(value) << unused) >> unused;
}

/// The low `width` bits of `value` as an unsigned number.
uint64_t unsignedOf(int64_t value, unsigned width) {
  return width == 64 ? static_cast<uint64_t>(value)
                     : static_cast<uint64_t>(value) & ((1ull << width) - 1);
}

int64_t divide(int64_t a, int64_t b) {
  return b == 0 ? 0 : b == -1 ? static_cast<int64_t>(0 - uint64_t(a)) : a / b;
}
int64_t truncatedRemainder(int64_t a, int64_t b) {
  return b == 0 || b == -1 ? 0 : a % b;
}
int64_t floorDivide(int64_t a, int64_t b) {
  int64_t quotient = divide(a, b);
  return truncatedRemainder(a, b) != 0 && (a < 0) != (b < 0) ? quotient - 1
                                                             : quotient;
}
int64_t ceilDivide(int64_t a, int64_t b) {
  int64_t quotient = divide(a, b);
  return truncatedRemainder(a, b) != 0 && (a < 0) == (b < 0) ? quotient + 1
                                                             : quotient;
}

bool compareIntegers(mlir::arith::CmpIPredicate predicate, int64_t a, int64_t b,
                     unsigned width) {
  using P = mlir::arith::CmpIPredicate;
  uint64_t ua = unsignedOf(a, width), ub = unsignedOf(b, width);
  switch (predicate) {
  case P::eq:
    return a == b;
  case P::ne:
    return a != b;
  case P::slt:
    return a < b;
  case P::sle:
    return a <= b;
  case P::sgt:
    return a > b;
  case P::sge:
    return a >= b;
  case P::ult:
    return ua < ub;
  case P::ule:
    return ua <= ub;
  case P::ugt:
    return ua > ub;
  case P::uge:
    return ua >= ub;
  }
  llvm_unreachable("covered switch");
}

bool compareReals(mlir::arith::CmpFPredicate predicate, double a, double b) {
  using P = mlir::arith::CmpFPredicate;
  bool unordered = std::isnan(a) || std::isnan(b);
  switch (predicate) {
  case P::AlwaysFalse:
    return false;
  case P::AlwaysTrue:
    return true;
  case P::OEQ:
    return a == b;
  case P::OGT:
    return a > b;
  case P::OGE:
    return a >= b;
  case P::OLT:
    return a < b;
  case P::OLE:
    return a <= b;
  case P::ONE:
    return !unordered && a != b;
  case P::ORD:
    return !unordered;
  case P::UEQ:
    return unordered || a == b;
  case P::UGT:
    return unordered || a > b;
  case P::UGE:
    return unordered || a >= b;
  case P::ULT:
    return unordered || a < b;
  case P::ULE:
    return unordered || a <= b;
  case P::UNE:
    return unordered || a != b;
  case P::UNO:
    return unordered;
  }
  llvm_unreachable("covered switch");
}

/// Truncation toward zero that saturates; NaN gives 0.
int64_t toInteger(double value, double low, double high) {
  if (std::isnan(value))
    return 0;
  return static_cast<int64_t>(std::clamp(std::trunc(value), low, high));
}

template <typename Real>
Real maximum(Real a, Real b) {
  return std::isnan(a) || std::isnan(b) ? std::numeric_limits<Real>::quiet_NaN()
                                        : std::max(a, b);
}
template <typename Real>
Real minimum(Real a, Real b) {
  return std::isnan(a) || std::isnan(b) ? std::numeric_limits<Real>::quiet_NaN()
                                        : std::min(a, b);
}

} // namespace

template <typename Real>
RegionEvaluator<Real>::RegionEvaluator(const RegionProgram &program,
                                       llvm::ArrayRef<Argument> arguments,
                                       const Extents &extents)
    : program(program), arguments(arguments), extents(extents),
      realStorage(size_t(program.floatRegisters) * lanes),
      intStorage(size_t(program.intRegisters) * lanes) {}

template <typename Real>
void RegionEvaluator<Real>::setRow(int64_t batch, int64_t head, int64_t row) {
  std::fill_n(integers(program.batch), lanes, batch);
  std::fill_n(integers(program.head), lanes, head);
  if (program.row >= 0)
    std::fill_n(integers(program.row), lanes, row);
  run(program.rowSteps, lanes);
}

template <typename Real>
Real RegionEvaluator<Real>::sink(int64_t batch, int64_t head) {
  setRow(batch, head, 0);
  return reals(program.result)[0];
}

template <typename Real>
void RegionEvaluator<Real>::score(int64_t firstKey, int count, Real *scores) {
  std::copy_n(scores, count, reals(program.score));
  std::iota(integers(program.key), integers(program.key) + count, firstKey);
  run(program.keySteps, count);
  std::copy_n(reals(program.result), count, scores);
}

template <typename Real>
void RegionEvaluator<Real>::mask(int64_t firstKey, int count, bool *keep) {
  std::iota(integers(program.key), integers(program.key) + count, firstKey);
  run(program.keySteps, count);
  const int64_t *result = integers(program.result);
  for (int lane = 0; lane < count; ++lane)
    keep[lane] = result[lane] != 0;
}

template <typename Real>
void RegionEvaluator<Real>::run(llvm::ArrayRef<Step> steps, int count) {
  for (const Step &step : steps) {
    if (step.kind == StepKind::LoadFloat || step.kind == StepKind::LoadInt)
      runLoad(step, count);
    else if (step.givesInteger)
      runIntStep(step, count);
    else
      runRealStep(step, count);
  }
}

template <typename Real>
void RegionEvaluator<Real>::runLoad(const Step &step, int count) {
  const auto &view = std::get<TensorView>(arguments[step.argument]);
  bool hasElements = view.numElements() != 0;
  for (int lane = 0; lane < count; ++lane) {
    int64_t offset = 0;
    for (auto [dimension, index] : llvm::enumerate(step.indices))
      offset += view.strides[dimension] *
                std::clamp<int64_t>(
                    integers(index)[lane], 0,
                    std::max<int64_t>(view.extents[dimension] - 1, 0));
    if (step.kind == StepKind::LoadFloat)
      reals(step.result)[lane] =
          hasElements ? static_cast<Real>(loadFloat(view, offset)) : Real(0);
    else
      integers(step.result)[lane] = hasElements ? loadInteger(view, offset) : 0;
  }
}

template <typename Real>
void RegionEvaluator<Real>::runIntStep(const Step &step, int count) {
  int64_t *r = integers(step.result);
  const unsigned width = step.width;
  const int64_t *a =
      step.operands[0] < 0 ? nullptr : integers(step.operands[0]);
  const int64_t *b =
      step.operands[1] < 0 ? nullptr : integers(step.operands[1]);
  auto each = [&](auto compute) {
    for (int lane = 0; lane < count; ++lane)
      r[lane] = wrap(compute(lane), width);
  };
  auto binary = [&](auto compute) {
    each([&](int lane) -> int64_t { return compute(a[lane], b[lane]); });
  };
  // Sums and products wrap: computed on unsigned numbers, where C++ wraps too.
  using U = uint64_t;
  switch (step.kind) {
  case StepKind::IntConstant:
    return each([&](int) { return step.intValue; });
  case StepKind::IntArgument: {
    int64_t value = std::get<int32_t>(arguments[step.argument]);
    return each([&](int) { return value; });
  }
  case StepKind::Extent:
    return each([&](int) { return extents.get(step.intValue); });
  case StepKind::AddI:
    return binary([](U x, U y) { return x + y; });
  case StepKind::SubI:
    return binary([](U x, U y) { return x - y; });
  case StepKind::MulI:
    return binary([](U x, U y) { return x * y; });
  case StepKind::DivSI:
    return binary(divide);
  case StepKind::FloorDivSI:
    return binary(floorDivide);
  case StepKind::CeilDivSI:
    return binary(ceilDivide);
  case StepKind::RemSI:
    return binary(truncatedRemainder);
  case StepKind::DivUI:
    return binary([&](int64_t x, int64_t y) {
      U divisor = unsignedOf(y, width);
      return divisor == 0 ? 0 : unsignedOf(x, width) / divisor;
    });
  case StepKind::RemUI:
    return binary([&](int64_t x, int64_t y) {
      U divisor = unsignedOf(y, width);
      return divisor == 0 ? 0 : unsignedOf(x, width) % divisor;
    });
  case StepKind::AndI:
    return binary([](int64_t x, int64_t y) { return x & y; });
  case StepKind::OrI:
    return binary([](int64_t x, int64_t y) { return x | y; });
  case StepKind::XOrI:
    return binary([](int64_t x, int64_t y) { return x ^ y; });
  // A shift by the width or more leaves nothing but the sign.
  case StepKind::ShlI:
    return binary([&](int64_t x, int64_t y) {
      U amount = unsignedOf(y, width);
      return amount >= width ? 0 : U(x) << amount;
    });
  case StepKind::ShrUI:
    return binary([&](int64_t x, int64_t y) {
      U amount = unsignedOf(y, width);
      return amount >= width ? 0 : unsignedOf(x, width) >> amount;
    });
  case StepKind::ShrSI:
    return binary([&](int64_t x, int64_t y) {
      return x >> std::min<U>(unsignedOf(y, width), width - 1);
    });
  case StepKind::MaxSI:
    return binary([](int64_t x, int64_t y) { return std::max(x, y); });
  case StepKind::MinSI:
    return binary([](int64_t x, int64_t y) { return std::min(x, y); });
  case StepKind::MaxUI:
    return binary([&](int64_t x, int64_t y) {
      return std::max(unsignedOf(x, width), unsignedOf(y, width));
    });
  case StepKind::MinUI:
    return binary([&](int64_t x, int64_t y) {
      return std::min(unsignedOf(x, width), unsignedOf(y, width));
    });
  case StepKind::AbsI:
    return each(
        [&](int lane) { return a[lane] < 0 ? U(0) - a[lane] : a[lane]; });
  case StepKind::CopyI:
    return each([&](int lane) { return a[lane]; });
  case StepKind::ExtUI: // width is the operand's: the result always fits
    for (int lane = 0; lane < count; ++lane)
      r[lane] = static_cast<int64_t>(unsignedOf(a[lane], width));
    return;
  case StepKind::CmpI: {
    auto predicate = static_cast<mlir::arith::CmpIPredicate>(step.predicate);
    for (int lane = 0; lane < count; ++lane)
      r[lane] = -int64_t(compareIntegers(predicate, a[lane], b[lane], width));
    return;
  }
  case StepKind::CmpF: {
    auto predicate = static_cast<mlir::arith::CmpFPredicate>(step.predicate);
    const Real *x = reals(step.operands[0]), *y = reals(step.operands[1]);
    for (int lane = 0; lane < count; ++lane)
      r[lane] = -int64_t(compareReals(predicate, x[lane], y[lane]));
    return;
  }
  case StepKind::FPToSI: {
    const Real *x = reals(step.operands[0]);
    double bound = std::ldexp(1.0, width - 1);
    return each([&](int lane) {
      return toInteger(x[lane], -bound, std::nextafter(bound, 0.0));
    });
  }
  case StepKind::FPToUI: {
    const Real *x = reals(step.operands[0]);
    double bound = std::ldexp(1.0, std::min(width, 63u));
    return each([&](int lane) {
      return toInteger(x[lane], 0.0, std::nextafter(bound, 0.0));
    });
  }
  case StepKind::SelectI: {
    const int64_t *c = integers(step.operands[2]);
    return each([&](int lane) { return a[lane] ? b[lane] : c[lane]; });
  }
  default:
    llvm_unreachable("not an integer step");
  }
}

template <typename Real>
void RegionEvaluator<Real>::runRealStep(const Step &step, int count) {
  Real *r = reals(step.result);
  auto operand = [&](int position) -> const Real * {
    int index = step.operands[position];
    return index < 0 ? nullptr : reals(index);
  };
  auto each = [&](auto compute) {
    for (int lane = 0; lane < count; ++lane)
      r[lane] = static_cast<Real>(compute(lane));
  };
  auto unary = [&](auto compute) {
    const Real *a = operand(0);
    each([&](int lane) { return compute(a[lane]); });
  };
  auto binary = [&](auto compute) {
    const Real *a = operand(0), *b = operand(1);
    each([&](int lane) { return compute(a[lane], b[lane]); });
  };
  switch (step.kind) {
  case StepKind::FloatConstant:
    return each([&](int) { return step.floatValue; });
  case StepKind::FloatArgument: {
    float value = std::get<float>(arguments[step.argument]);
    return each([&](int) { return value; });
  }
  case StepKind::AddF:
    return binary([](Real x, Real y) { return x + y; });
  case StepKind::SubF:
    return binary([](Real x, Real y) { return x - y; });
  case StepKind::MulF:
    return binary([](Real x, Real y) { return x * y; });
  case StepKind::DivF:
    return binary([](Real x, Real y) { return x / y; });
  case StepKind::RemF:
    return binary([](Real x, Real y) { return std::fmod(x, y); });
  case StepKind::MaximumF:
    return binary(maximum<Real>);
  case StepKind::MinimumF:
    return binary(minimum<Real>);
  case StepKind::MaxNumF:
    return binary([](Real x, Real y) { return std::fmax(x, y); });
  case StepKind::MinNumF:
    return binary([](Real x, Real y) { return std::fmin(x, y); });
  case StepKind::PowF:
    return binary([](Real x, Real y) { return std::pow(x, y); });
  case StepKind::Atan2:
    return binary([](Real x, Real y) { return std::atan2(x, y); });
  case StepKind::CopySign:
    return binary([](Real x, Real y) { return std::copysign(x, y); });
  case StepKind::NegF:
    return unary([](Real x) { return -x; });
  case StepKind::AbsF:
    return unary([](Real x) { return std::fabs(x); });
  case StepKind::Ceil:
    return unary([](Real x) { return std::ceil(x); });
  case StepKind::Floor:
    return unary([](Real x) { return std::floor(x); });
  case StepKind::Round:
    return unary([](Real x) { return std::round(x); });
  case StepKind::RoundEven:
    return unary([](Real x) { return std::nearbyint(x); });
  case StepKind::Trunc:
    return unary([](Real x) { return std::trunc(x); });
  case StepKind::Sqrt:
    return unary([](Real x) { return std::sqrt(x); });
  case StepKind::Rsqrt:
    return unary([](Real x) { return Real(1) / std::sqrt(x); });
  case StepKind::Cbrt:
    return unary([](Real x) { return std::cbrt(x); });
  case StepKind::Exp:
    return unary([](Real x) { return std::exp(x); });
  case StepKind::Exp2:
    return unary([](Real x) { return std::exp2(x); });
  case StepKind::ExpM1:
    return unary([](Real x) { return std::expm1(x); });
  case StepKind::Log:
    return unary([](Real x) { return std::log(x); });
  case StepKind::Log2:
    return unary([](Real x) { return std::log2(x); });
  case StepKind::Log10:
    return unary([](Real x) { return std::log10(x); });
  case StepKind::Log1p:
    return unary([](Real x) { return std::log1p(x); });
  case StepKind::Sin:
    return unary([](Real x) { return std::sin(x); });
  case StepKind::Cos:
    return unary([](Real x) { return std::cos(x); });
  case StepKind::Tan:
    return unary([](Real x) { return std::tan(x); });
  case StepKind::Asin:
    return unary([](Real x) { return std::asin(x); });
  case StepKind::Acos:
    return unary([](Real x) { return std::acos(x); });
  case StepKind::Atan:
    return unary([](Real x) { return std::atan(x); });
  case StepKind::Sinh:
    return unary([](Real x) { return std::sinh(x); });
  case StepKind::Cosh:
    return unary([](Real x) { return std::cosh(x); });
  case StepKind::Tanh:
    return unary([](Real x) { return std::tanh(x); });
  case StepKind::Erf:
    return unary([](Real x) { return std::erf(x); });
  case StepKind::RoundToType:
    // f32 and wider keep the precision of Real: that is what it is for.
    if (step.roundType == DType::F32 || step.roundType == DType::F64)
      return unary([](Real x) { return x; });
    return unary([&](Real x) { return roundTo(step.roundType, x); });
  case StepKind::Fma: {
    const Real *a = operand(0), *b = operand(1), *c = operand(2);
    return each([&](int lane) { return std::fma(a[lane], b[lane], c[lane]); });
  }
  case StepKind::SIToFP: {
    const int64_t *a = integers(step.operands[0]);
    return each([&](int lane) { return a[lane]; });
  }
  case StepKind::UIToFP: {
    const int64_t *a = integers(step.operands[0]);
    return each([&](int lane) { return unsignedOf(a[lane], step.width); });
  }
  case StepKind::SelectF: {
    const int64_t *a = integers(step.operands[0]);
    const Real *b = operand(1), *c = operand(2);
    return each([&](int lane) { return a[lane] ? b[lane] : c[lane]; });
  }
  default:
    llvm_unreachable("not a floating-point step");
  }
}

template class qm::reference::RegionEvaluator<double>;
template class qm::reference::RegionEvaluator<float>;
