// How exact scores have to be.
#include "lowering/common/ScorePrecision.h"

#include "mlir/IR/BuiltinTypes.h"

using namespace mlir;
using namespace qm;

bool lowering::roundsScores(attn::KernelOp kernel) {
  auto q = cast<RankedTensorType>(kernel.getQ().getType());
  return !kernel.getLse() && !kernel.getMax() && !q.getElementType().isF32();
}
