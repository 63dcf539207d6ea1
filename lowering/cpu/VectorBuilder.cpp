//===- VectorBuilder.cpp - short words for vector code --------------------===//

#include "lowering/cpu/VectorBuilder.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace qm::cpu;

VectorType VectorBuilder::vectorOf(Type element) {
  return VectorType::get(registerLanes, element);
}

Value VectorBuilder::i64(int64_t value) {
  return arith::ConstantOp::create(*this, getI64IntegerAttr(value));
}
Value VectorBuilder::i32(int64_t value) {
  return arith::ConstantOp::create(*this, getI32IntegerAttr(value));
}
Value VectorBuilder::f32Vector(float value) {
  return arith::ConstantOp::create(
      *this, DenseElementsAttr::get(vectorOf(getF32Type()), value));
}
Value VectorBuilder::toI32(Value value) {
  return arith::TruncIOp::create(*this, getI32Type(), value);
}
Value VectorBuilder::toI64(Value value) {
  return arith::ExtSIOp::create(*this, getI64Type(), value);
}
Value VectorBuilder::add(Value a, Value b) {
  return arith::AddIOp::create(*this, a, b);
}
Value VectorBuilder::sub(Value a, Value b) {
  return arith::SubIOp::create(*this, a, b);
}
Value VectorBuilder::mul(Value a, Value b) {
  return arith::MulIOp::create(*this, a, b);
}
Value VectorBuilder::min(Value a, Value b) {
  return arith::MinSIOp::create(*this, a, b);
}

Value VectorBuilder::splat(Value value) {
  if (isa<VectorType>(value.getType()))
    return value;
  return vector::BroadcastOp::create(*this, vectorOf(value.getType()), value);
}

Value VectorBuilder::fma(Value a, Value b, Value c) {
  return math::FmaOp::create(*this, a, b, c);
}

Value VectorBuilder::maxOrSecond(Value a, Value b) {
  Value larger = arith::CmpFOp::create(*this, arith::CmpFPredicate::OGT, a, b);
  return arith::SelectOp::create(*this, larger, a, b);
}

Value VectorBuilder::toF32(Value value) {
  Type element = getElementTypeOrSelf(value.getType());
  if (element.isF32())
    return value;
  Type result = getF32Type();
  if (isa<VectorType>(value.getType()))
    result = vectorOf(result);
  return arith::ExtFOp::create(*this, result, value);
}

Value VectorBuilder::fromF32(Value value, Type type) {
  if (type.isF32())
    return value;
  Type result = isa<VectorType>(value.getType()) ? vectorOf(type) : type;
  return arith::TruncFOp::create(*this, result, value);
}

Value VectorBuilder::roundTo(Value value, Type type) {
  return toF32(fromF32(value, type));
}

Value VectorBuilder::address(Value base, Type type, Value index) {
  return LLVM::GEPOp::create(*this, base.getType(), type, base,
                             ArrayRef<LLVM::GEPArg>{index});
}
Value VectorBuilder::address(Value base, Type type, int64_t index) {
  return LLVM::GEPOp::create(
      *this, base.getType(), type, base,
      ArrayRef<LLVM::GEPArg>{static_cast<int32_t>(index)});
}

Value VectorBuilder::loadScalar(Value pointer, Type type) {
  return LLVM::LoadOp::create(*this, type, pointer);
}
void VectorBuilder::storeScalar(Value value, Value pointer) {
  LLVM::StoreOp::create(*this, value, pointer);
}
Value VectorBuilder::loadVector(Value pointer, Type type) {
  return LLVM::LoadOp::create(*this, vectorOf(type), pointer,
                              type.getIntOrFloatBitWidth() / 8);
}
void VectorBuilder::storeVector(Value value, Value pointer) {
  Type element = getElementTypeOrSelf(value.getType());
  LLVM::StoreOp::create(*this, value, pointer,
                        element.getIntOrFloatBitWidth() / 8);
}

void VectorBuilder::loop(Value lower, Value upper, int64_t step,
                         function_ref<void(Value)> body) {
  loop(lower, upper, step, {}, [&](Value i, ValueRange) {
    body(i);
    return Values();
  });
}

VectorBuilder::Values
VectorBuilder::loop(Value lower, Value upper, int64_t step, ValueRange inits,
                    function_ref<Values(Value, ValueRange)> body) {
  auto loop = scf::ForOp::create(*this, lower, upper, i64(step), inits);
  OpBuilder::InsertionGuard guard(*this);
  setInsertionPointToStart(loop.getBody());
  // scf.for makes its own terminator only where nothing is carried.
  Values yielded = body(loop.getInductionVar(), loop.getRegionIterArgs());
  if (!inits.empty())
    scf::YieldOp::create(*this, yielded);
  return Values(loop.getResults());
}

// The operations are built first and filled afterwards: passes that run while
// the code is being made need to see every region in its place.

VectorBuilder::Values VectorBuilder::branch(Value condition, TypeRange types,
                                            function_ref<Values()> then,
                                            function_ref<Values()> otherwise) {
  auto op = scf::IfOp::create(*this, types, condition, /*addThenBlock=*/true,
                              /*addElseBlock=*/true);
  OpBuilder::InsertionGuard guard(*this);
  setInsertionPointToStart(op.thenBlock());
  scf::YieldOp::create(*this, then());
  setInsertionPointToStart(op.elseBlock());
  scf::YieldOp::create(*this, otherwise());
  return Values(op.getResults());
}

void VectorBuilder::when(Value condition, function_ref<void()> body) {
  auto op = scf::IfOp::create(*this, condition, /*withElseRegion=*/false);
  OpBuilder::InsertionGuard guard(*this);
  setInsertionPointToStart(op.thenBlock());
  body();
}
