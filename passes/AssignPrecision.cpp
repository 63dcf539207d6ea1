// fused -> typed: the element type of every operand, probability and statistic,
// and the casts that follow.
#include "passes/Overrides.h"
#include "passes/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"

using namespace mlir;
using namespace qm;
using namespace qm::passes;

namespace qm::passes {
#define GEN_PASS_DEF_ASSIGNPRECISION
#include "passes/Passes.h.inc"
} // namespace qm::passes

namespace {

/// The fields of #attn.precision while they are decided.
struct Precision {
  Type qk, pv, p, score, stat, acc;
  std::optional<bool> approximateTanh; ///< nothing: as each tanh says
};

Type parseFloatType(StringRef name, MLIRContext *context) {
  if (name == "f16")
    return Float16Type::get(context);
  if (name == "bf16")
    return BFloat16Type::get(context);
  if (name == "f32")
    return Float32Type::get(context);
  return {};
}

/// A tanh may be the machine's approximation (a relative error of 2^-11) where
/// its fast-math flags allow approximate functions.
void allowApproximation(math::TanhOp tanh, bool allowed) {
  auto flags = tanh.getFastmath() | arith::FastMathFlags::afn;
  if (!allowed)
    flags = flags ^ arith::FastMathFlags::afn;
  tanh.setFastmath(flags);
}

/// The narrowest type that holds both exactly.
Type wider(Type a, Type b) {
  return a == b ? a : Type(Float32Type::get(a.getContext()));
}

FailureOr<Precision> decide(attn::KernelOp kernel,
                            ArrayRef<std::string> overrides) {
  MLIRContext *context = kernel.getContext();
  Type input = cast<RankedTensorType>(kernel.getQ().getType()).getElementType();
  Type f32 = Float32Type::get(context);
  Precision precision{input, {}, input, f32, f32, f32, std::nullopt};
  Type wideOperands; ///< of both products, and of P
  FailureOr<SmallVector<Override>> selected =
      selectOverrides(kernel, overrides, "precision");
  if (failed(selected))
    return failure();
  for (const Override &override : *selected) {
    if (override.field == "tanh") {
      if (override.value != "exact" && override.value != "approx")
        return rejectValue(kernel, override, "exact, approx");
      precision.approximateTanh = override.value == "approx";
      continue;
    }
    if (override.field == "operands") {
      if (!input.isF32() ||
          (override.value != "tf32" && override.value != "bf16x3"))
        return rejectValue(kernel, override,
                           "tf32, bf16x3, where operands are f32");
      wideOperands =
          override.value == "tf32" ? Type(FloatTF32Type::get(context)) : f32;
      continue;
    }
    Type type = parseFloatType(override.value, context);
    if (!type)
      return rejectValue(kernel, override, "f16, bf16, f32");
    bool operand = override.field == "qk" || override.field == "pv";
    if (operand && type != wider(type, input))
      return rejectValue(kernel, override,
                         "f32 or the input type: operands are not narrowed");
    if (override.field == "qk")
      precision.qk = type;
    else if (override.field == "pv")
      precision.pv = type;
    else if (override.field == "p")
      precision.p = type;
    else if (override.field == "score" || override.field == "stat" ||
             override.field == "acc") {
      if (type != f32)
        return rejectValue(kernel, override, "f32");
    } else
      return rejectField(kernel, override,
                         "operands, qk, pv, p, score, stat, acc, tanh");
  }
  if (wideOperands) {
    precision.qk = precision.pv = precision.p = wideOperands;
    return precision;
  }
  // The product of P and V runs in a type that holds both.
  Type product = wider(precision.p, input);
  precision.pv = precision.pv ? wider(precision.pv, product) : product;
  return precision;
}

struct AssignPrecision
    : qm::passes::impl::AssignPrecisionBase<AssignPrecision> {
  using Base = qm::passes::impl::AssignPrecisionBase<AssignPrecision>;
  using Base::Base;

  void runOnOperation() override {
    attn::KernelOp kernel = getOperation();
    FailureOr<Precision> precision = decide(kernel, overrides);
    if (failed(precision))
      return signalPassFailure();
    kernel.setPrecisionAttr(attn::PrecisionAttr::get(
        &getContext(), precision->qk, precision->pv, precision->p,
        precision->score, precision->stat, precision->acc));
    if (precision->approximateTanh)
      kernel.walk([&](math::TanhOp tanh) {
        allowApproximation(tanh, *precision->approximateTanh);
      });
    OpBuilder builder(&getContext());
    // An operand is cast where it is loaded: once a tile for q, once a block
    // for k and v.
    auto cast = [&](OpOperand &operand, Type type) {
      Value value = operand.get();
      auto tile = mlir::cast<attn::TileType>(value.getType());
      if (tile.getElementType() == type)
        return;
      builder.setInsertionPointAfterValue(value);
      operand.set(attn::CastOp::create(builder, value.getLoc(),
                                       tile.withElementType(type), value));
    };
    kernel.walk([&](attn::DotOp dot) {
      cast(dot.getLhsMutable(), precision->qk);
      cast(dot.getRhsMutable(), precision->qk);
    });
    kernel.walk([&](attn::AccumulateOp accumulate) {
      cast(accumulate.getPMutable(), precision->p);
      cast(accumulate.getPMutable(), precision->pv);
      cast(accumulate.getVMutable(), precision->pv);
    });
  }
};

} // namespace
