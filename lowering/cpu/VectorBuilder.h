//===- VectorBuilder.h - short words for vector code ------------*- C++ -*-===//
//
// A builder with the vocabulary the CPU lowering speaks: 64-bit addresses,
// vectors of one machine register, counted loops. Everything it makes is arith,
// math, vector, scf and LLVM memory operations; there is no `index` type, so
// that the way to LLVM is one to one.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "mlir/IR/ImplicitLocOpBuilder.h"

namespace qm::cpu {

class VectorBuilder : public mlir::ImplicitLocOpBuilder {
public:
  /// `lanes`: f32 lanes of one vector register.
  VectorBuilder(mlir::Location loc, mlir::OpBuilder builder, int64_t lanes)
      : ImplicitLocOpBuilder(loc, builder), registerLanes(lanes) {}

  int64_t lanes() const { return registerLanes; }
  mlir::VectorType vectorOf(mlir::Type element);

  mlir::Value i64(int64_t value);
  mlir::Value i32(int64_t value);
  /// A splat of `value`, one register wide.
  mlir::Value f32Vector(float value);
  mlir::Value toI32(mlir::Value i64Value);
  mlir::Value toI64(mlir::Value i32Value);
  mlir::Value add(mlir::Value a, mlir::Value b);
  mlir::Value sub(mlir::Value a, mlir::Value b);
  mlir::Value mul(mlir::Value a, mlir::Value b);
  mlir::Value min(mlir::Value a, mlir::Value b); ///< signed

  /// `value` in every lane; a vector stays as it is.
  mlir::Value splat(mlir::Value value);
  /// a * b + c in one rounding (qm-expand-cpu-math splits it for a CPU
  /// without).
  mlir::Value fma(mlir::Value a, mlir::Value b, mlir::Value c);
  /// The larger; `b` where either is NaN (the x86 instruction's rule).
  mlir::Value maxOrSecond(mlir::Value a, mlir::Value b);
  /// f32 rounded to `type` (nearest even) and back; scalars and vectors.
  mlir::Value roundTo(mlir::Value value, mlir::Type type);
  /// Any float to f32 and f32 to any float; no-op on f32.
  mlir::Value toF32(mlir::Value value);
  mlir::Value fromF32(mlir::Value value, mlir::Type type);

  /// Address of element `index` (elements of `type`) after `base`.
  mlir::Value address(mlir::Value base, mlir::Type type, mlir::Value index);
  mlir::Value address(mlir::Value base, mlir::Type type, int64_t index);
  mlir::Value loadScalar(mlir::Value pointer, mlir::Type type);
  void storeScalar(mlir::Value value, mlir::Value pointer);
  /// One register of `type`, at the natural alignment of an element.
  mlir::Value loadVector(mlir::Value pointer, mlir::Type type);
  void storeVector(mlir::Value value, mlir::Value pointer);

  using Values = llvm::SmallVector<mlir::Value>;
  /// for (i = lower; i < upper; i += step), i64.
  void loop(mlir::Value lower, mlir::Value upper, int64_t step,
            llvm::function_ref<void(mlir::Value)> body);
  /// The same, carrying values.
  Values loop(mlir::Value lower, mlir::Value upper, int64_t step,
              mlir::ValueRange inits,
              llvm::function_ref<Values(mlir::Value, mlir::ValueRange)> body);
  /// if (condition) then; else otherwise, both giving `types`.
  Values branch(mlir::Value condition, mlir::TypeRange types,
                llvm::function_ref<Values()> then,
                llvm::function_ref<Values()> otherwise);
  /// if (condition) body.
  void when(mlir::Value condition, llvm::function_ref<void()> body);

private:
  int64_t registerLanes;
};

} // namespace qm::cpu
