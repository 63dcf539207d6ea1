// Head dims and occupancy, which every machine's schedule asks for.
#include "passes/Schedule.h"

#include "mlir/IR/BuiltinTypes.h"

using namespace mlir;
using namespace qm;
using namespace qm::passes;
using lowering::TargetInfo;

int64_t qm::passes::getHeadDim(attn::KernelOp kernel) {
  return cast<RankedTensorType>(kernel.getQ().getType()).getDimSize(3);
}
int64_t qm::passes::getValueHeadDim(attn::KernelOp kernel) {
  return cast<RankedTensorType>(kernel.getV().getType()).getDimSize(3);
}

int64_t Footprint::ctasThatFit(const TargetInfo &target, int64_t threads,
                               int64_t reserved) const {
  if (registers > maxRegisters || sharedBytes > target.sharedBytesPerCta)
    return 0;
  return std::min({int64_t(target.ctasPerSm),
                   int64_t(target.threadsPerSm) / threads,
                   int64_t(target.registersPerSm) /
                       (threads * std::max<int64_t>(registers, 1)),
                   int64_t(target.sharedBytesPerSm) /
                       std::max<int64_t>(sharedBytes + reserved, 1)});
}
