// What element-wise regions may hold on GPU targets.
#include "lowering/gpu/ElementRegion.h"

#include "mlir/Dialect/Math/IR/Math.h"

using namespace mlir;
using namespace qm;

std::optional<std::string> qm::gpu::whyUnsupported(Operation &op) {
  if (isa<attn::LoadOp, attn::ExtentOp, attn::SearchOp, attn::ExtremaOp,
          attn::YieldOp>(op) ||
      op.hasTrait<OpTrait::ConstantLike>())
    return std::nullopt;
  std::string name = op.getName().getStringRef().str();
  if (op.getNumResults() != 1)
    return name + " has no machine code on this target";
  // Casts take any type that a buffer may have. Everything else is f32, i32 or
  // i1, or an integer LLVM computes with.
  bool cast =
      isa<arith::ExtFOp, arith::TruncFOp, arith::ExtSIOp, arith::ExtUIOp,
          arith::TruncIOp, arith::SIToFPOp, arith::UIToFPOp, arith::FPToSIOp,
          arith::FPToUIOp, arith::BitcastOp, arith::SelectOp>(op);
  auto fits = [&](Type type) {
    if (type.isF32() || type.isSignlessInteger(1) ||
        type.isSignlessInteger(8) || type.isSignlessInteger(16) ||
        type.isSignlessInteger(32) || type.isSignlessInteger(64))
      return true;
    return cast && (type.isF16() || type.isBF16() || type.isF64());
  };
  for (Type type :
       llvm::concat<const Type>(llvm::to_vector<4>(op.getOperandTypes()),
                                llvm::to_vector<1>(op.getResultTypes())))
    if (!fits(type)) {
      std::string text;
      llvm::raw_string_ostream(text)
          << name << " on " << type << " has no machine code on this target";
      return text;
    }
  bool known =
      cast ||
      isa<arith::AddFOp, arith::SubFOp, arith::MulFOp, arith::DivFOp,
          arith::RemFOp, arith::NegFOp, arith::MaximumFOp, arith::MinimumFOp,
          arith::MaxNumFOp, arith::MinNumFOp, arith::CmpFOp, arith::AddIOp,
          arith::SubIOp, arith::MulIOp, arith::DivSIOp, arith::DivUIOp,
          arith::RemSIOp, arith::RemUIOp, arith::AndIOp, arith::OrIOp,
          arith::XOrIOp, arith::ShLIOp, arith::ShRSIOp, arith::ShRUIOp,
          arith::MaxSIOp, arith::MinSIOp, arith::MaxUIOp, arith::MinUIOp,
          arith::CmpIOp>(op) ||
      isa<math::Exp2Op, math::TanhOp, math::SqrtOp, math::RsqrtOp, math::AbsFOp,
          math::AbsIOp, math::FloorOp, math::CeilOp, math::TruncOp,
          math::RoundEvenOp, math::FmaOp, math::CopySignOp, math::CtPopOp,
          math::CountLeadingZerosOp, math::CountTrailingZerosOp>(op);
  if (!known)
    return name + " has no machine code on this target";
  return std::nullopt;
}
