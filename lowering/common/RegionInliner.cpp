// Inlines a region into code for one element or for a vector of elements.
#include "lowering/common/RegionInliner.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace qm;
using namespace qm::lowering;

/// The vector type among the operands, or null.
static VectorType findVector(ValueRange operands) {
  for (Value operand : operands)
    if (auto type = dyn_cast<VectorType>(operand.getType()))
      return type;
  return {};
}

static Value broadcast(OpBuilder &builder, Location loc, Value value,
                       VectorType like) {
  if (isa<VectorType>(value.getType()))
    return value;
  return vector::BroadcastOp::create(
      builder, loc, VectorType::get(like.getShape(), value.getType()), value);
}

/// `op` on `operands`, element-wise if one of them is a vector.
static Operation *cloneElementwise(OpBuilder &builder, Operation &op,
                                   SmallVector<Value> operands) {
  VectorType like = findVector(operands);
  SmallVector<Type> types(op.getResultTypes());
  if (like) {
    // A scalar condition may choose between vectors: arith.select takes it as
    // it is.
    bool scalarCondition = isa<arith::SelectOp>(op) &&
                           !isa<VectorType>(operands.front().getType());
    for (auto [index, operand] : llvm::enumerate(operands))
      if (index != 0 || !scalarCondition)
        operand = broadcast(builder, op.getLoc(), operand, like);
    for (Type &type : types)
      type = VectorType::get(like.getShape(), type);
  }
  // getAttrs() includes properties: predicates, fast-math and overflow flags
  // travel with the clone.
  OperationState state(op.getLoc(), op.getName(), operands, types,
                       op.getAttrs());
  return builder.create(state);
}

SmallVector<Value>
qm::lowering::inlineRegion(OpBuilder &builder, Region &region,
                           ValueRange arguments, const IRMapping &outer,
                           const RegionEnvironment &environment) {
  IRMapping mapping = outer;
  mapping.map(region.getArguments(), arguments);
  auto lookup = [&](ValueRange values) {
    return llvm::map_to_vector(
        values, [&](Value value) { return mapping.lookupOrDefault(value); });
  };
  for (Operation &op : region.front().without_terminator()) {
    if (auto load = dyn_cast<attn::LoadOp>(op)) {
      mapping.map(load.getResult(),
                  environment.load(builder, load, lookup(load.getIndices())));
    } else if (auto extent = dyn_cast<attn::ExtentOp>(op)) {
      mapping.map(extent.getResult(), environment.extent(builder, extent));
    } else if (auto search = dyn_cast<attn::SearchOp>(op)) {
      mapping.map(
          search.getResult(),
          environment.search(builder, search, lookup(search.getIndices()),
                             mapping.lookupOrDefault(search.getValue())));
    } else if (auto extrema = dyn_cast<attn::ExtremaOp>(op)) {
      auto [least, greatest] =
          environment.extrema(builder, extrema, lookup(extrema.getIndices()),
                              mapping.lookupOrDefault(extrema.getLast()));
      mapping.map(extrema.getLeast(), least);
      mapping.map(extrema.getGreatest(), greatest);
    } else if (op.hasTrait<OpTrait::ConstantLike>()) {
      mapping.map(op.getResult(0), builder.clone(op)->getResult(0));
    } else {
      Operation *clone =
          cloneElementwise(builder, op, lookup(op.getOperands()));
      mapping.map(op.getResults(), clone->getResults());
    }
  }
  return lookup(region.front().getTerminator()->getOperands());
}
