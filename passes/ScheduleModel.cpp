// The target model behind ChooseSchedule.
#include "passes/ScheduleModel.h"
#include "passes/HopperSchedule.h"

#include "mlir/IR/BuiltinTypes.h"

using namespace mlir;
using namespace qm;
using namespace qm::passes;
using lowering::TargetInfo;
using lowering::TargetKind;

int64_t qm::passes::getHeadDim(attn::KernelOp kernel) {
  return cast<RankedTensorType>(kernel.getQ().getType()).getDimSize(3);
}
int64_t qm::passes::getValueHeadDim(attn::KernelOp kernel) {
  return cast<RankedTensorType>(kernel.getV().getType()).getDimSize(3);
}

/// Registers of a thread besides tiles: addresses, loop state, operand
/// fragments in flight.
static constexpr int64_t baseRegisters = 40;

Footprint qm::passes::estimateFootprint(attn::KernelOp kernel,
                                        const Schedule &schedule,
                                        const TargetInfo &target) {
  if (schedule.consumers)
    return estimateHopperFootprint(kernel, schedule, target);
  int64_t d = getHeadDim(kernel), dv = getValueHeadDim(kernel);
  int64_t threads = 32 * schedule.warps;
  int64_t elementBytes =
      kernel.getPrecision()->getQk().getIntOrFloatBitWidth() / 8;
  int64_t accumulator = schedule.tileM * dv / threads;
  int64_t scores = schedule.tileM * schedule.tileN / threads;
  Footprint footprint;
  footprint.registers = accumulator + scores + baseRegisters;
  // Stages alternate between K and V tiles, each as wide as the wider of the
  // two.
  footprint.sharedBytes =
      elementBytes *
      (schedule.tileM * d + schedule.stages * schedule.tileN * std::max(d, dv));
  bool fits = footprint.registers <= Footprint::maxRegisters &&
              footprint.sharedBytes <= target.sharedBytesPerCta;
  footprint.ctas =
      fits
          ? std::min({int64_t(target.ctasPerSm),
                      int64_t(target.threadsPerSm) / threads,
                      int64_t(target.registersPerSm) /
                          (threads * std::max<int64_t>(footprint.registers, 1)),
                      int64_t(target.sharedBytesPerSm) /
                          std::max<int64_t>(footprint.sharedBytes, 1)})
          : 0;
  return footprint;
}

/// CPU: the register tile fills the vector registers with accumulators (vectors
/// of query rows by keys), leaving some for operands; the block of scores of
/// one strip stays in the first-level cache; a tile has four strips so that
/// conversions of K and V are shared.
static Schedule proposeCpu(const TargetInfo &target) {
  constexpr int64_t vectors = 3, strips = 4, keys = 128;
  Schedule schedule;
  schedule.microM = vectors * target.vectorBytes / 4;
  schedule.microN = target.vectorRegisters >= 32 ? 8 : 4;
  schedule.tileM = strips * schedule.microM;
  schedule.tileN = keys;
  return schedule;
}

/// NVIDIA: 32 query rows a warp, so that one fragment of K or V feeds two
/// products; the widest key block that leaves two CTAs on a multiprocessor,
/// else the widest that fits (ampere.md measured both).
static Schedule proposeNvidia(attn::KernelOp kernel, const TargetInfo &target) {
  Schedule best;
  int64_t bestCtas = -1;
  for (int64_t keys : {64, 32}) {
    Schedule schedule;
    schedule.warps = 4;
    schedule.tileM = 32 * schedule.warps;
    schedule.tileN = keys;
    schedule.stages = 2;
    int64_t ctas =
        std::min<int64_t>(2, estimateFootprint(kernel, schedule, target).ctas);
    if (ctas > bestCtas || ctas == 0) {
      best = schedule;
      bestCtas = ctas;
    }
  }
  return best;
}

Schedule qm::passes::proposeSchedule(attn::KernelOp kernel,
                                     const TargetInfo &target) {
  if (target.kind == TargetKind::Cpu)
    return proposeCpu(target);
  if (target.sm == 90)
    return proposeHopper(kernel, target);
  return proposeNvidia(kernel, target);
}
