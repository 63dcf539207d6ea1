// Arithmetic of rewrite patterns on f32.
#pragma once

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "mlir/IR/PatternMatch.h"

namespace qm::gpu {

/// f32 arithmetic at a pattern's location.
struct Floats {
  mlir::ImplicitLocOpBuilder b;
  Floats(mlir::Operation *op, mlir::PatternRewriter &rewriter)
      : b(op->getLoc(), rewriter) {}

  mlir::Value constant(double value) {
    return mlir::arith::ConstantOp::create(b, b.getF32FloatAttr(float(value)));
  }
  mlir::Value mul(mlir::Value x, mlir::Value y) {
    return mlir::arith::MulFOp::create(b, x, y);
  }
  mlir::Value add(mlir::Value x, mlir::Value y) {
    return mlir::arith::AddFOp::create(b, x, y);
  }
  mlir::Value fma(mlir::Value x, mlir::Value y, mlir::Value z) {
    return mlir::math::FmaOp::create(b, x, y, z);
  }
  mlir::Value exp2(mlir::Value x) { return mlir::math::Exp2Op::create(b, x); }
  mlir::Value abs(mlir::Value x) { return mlir::math::AbsFOp::create(b, x); }
  mlir::Value less(mlir::Value x, double bound) {
    return mlir::arith::CmpFOp::create(b, mlir::arith::CmpFPredicate::OLT, x,
                                       constant(bound));
  }
  mlir::Value select(mlir::Value condition, mlir::Value yes, mlir::Value no) {
    return mlir::arith::SelectOp::create(b, condition, yes, no);
  }
};

} // namespace qm::gpu
