// The mark of a usual case, made and read.
#include "lowering/gpu/UsualCase.h"

#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace qm::gpu;

static constexpr llvm::StringLiteral mark = "attn.usual";

Value qm::gpu::createUsualCase(OpBuilder &b, Location loc, Value x, float limit,
                               Value usual, Value general) {
  Value most = arith::ConstantOp::create(b, loc, b.getF32FloatAttr(limit));
  Value near = arith::CmpFOp::create(b, loc, arith::CmpFPredicate::OLE,
                                     math::AbsFOp::create(b, loc, x), most);
  auto select = arith::SelectOp::create(b, loc, near, usual, general);
  select->setAttr(mark, b.getUnitAttr());
  return select;
}

/// The range that a select's condition says, if it is of the form that is made
/// here.
static std::optional<UsualRange> match(arith::SelectOp select) {
  auto compare = select.getCondition().getDefiningOp<arith::CmpFOp>();
  FloatAttr limit;
  if (!select->hasAttr(mark) || !compare ||
      compare.getPredicate() != arith::CmpFPredicate::OLE ||
      !compare.getLhs().getType().isF32() ||
      !matchPattern(compare.getRhs(), m_Constant(&limit)))
    return std::nullopt;
  auto magnitude = compare.getLhs().getDefiningOp<math::AbsFOp>();
  if (!magnitude)
    return std::nullopt;
  return UsualRange{magnitude.getOperand(), float(limit.getValueAsDouble())};
}

bool qm::gpu::isGeneralCase(Value value) {
  return llvm::any_of(value.getUses(), [](OpOperand &use) {
    return use.getOwner()->hasAttr(mark) && use.getOperandNumber() == 2;
  });
}

SmallVector<arith::SelectOp> qm::gpu::findUsualCases(Block &body) {
  return llvm::to_vector(llvm::make_filter_range(
      body.getOps<arith::SelectOp>(),
      [](arith::SelectOp select) { return match(select).has_value(); }));
}

UsualRange qm::gpu::getUsualRange(arith::SelectOp select) {
  return *match(select);
}
