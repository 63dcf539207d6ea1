// The schedule of Hopper kernels. What was measured is in
// lowering/sm90/README.md.
#include "passes/HopperSchedule.h"

#include "lowering/common/ScorePrecision.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace qm;
using namespace qm::passes;
using lowering::TargetInfo;

/// A tile's row lies in shared memory in panels of 128 bytes.
static int64_t paddedRowBytes(int64_t columns) {
  return (2 * columns + 127) / 128 * 128;
}

/// Registers of a consumer besides scores, probabilities and accumulator.
static constexpr int64_t otherRegisters = 30;
/// Full and empty barriers of every buffer; one for
/// each consumer's staged output, ten for the queue of tiles.
static constexpr int64_t barrierBytes = 16;

Footprint qm::passes::estimateHopperFootprint(attn::KernelOp kernel,
                                              const Schedule &schedule,
                                              const TargetInfo &target) {
  int64_t keyRow = paddedRowBytes(getHeadDim(kernel));
  int64_t valueRow = paddedRowBytes(getValueHeadDim(kernel));
  Footprint footprint;
  footprint.registers =
      3 * schedule.tileN / 4 + getValueHeadDim(kernel) / 2 + otherRegisters;
  footprint.sharedBytes =
      schedule.queryBuffers * schedule.tileM * std::max(keyRow, valueRow) +
      schedule.stages * schedule.tileN * (keyRow + valueRow) +
      barrierBytes * (schedule.queryBuffers + 2 * schedule.stages +
                      schedule.consumers + 10);
  bool fits = footprint.registers <= schedule.consumerRegisters &&
              footprint.sharedBytes <= target.sharedBytesPerCta;
  footprint.ctas = fits ? 1 : 0;
  return footprint;
}

static Schedule withConsumers(int64_t consumers) {
  Schedule schedule;
  schedule.consumers = consumers;
  schedule.warps = 4 * (consumers + 1);
  schedule.tileM = 64 * consumers;
  schedule.stages = 2;
  schedule.persistent = 1;
  schedule.pingPong = consumers == 2;
  schedule.producerRegisters = consumers == 2 ? 24 : 32;
  schedule.consumerRegisters = consumers == 2 ? 240 : 160;
  return schedule;
}

/// Whether score functions use the special-function unit, beside the
/// exponential of the softmax: then two consumers in turns leave it idle while
/// they wait for their products.
static bool usesSpecialFunctions(attn::KeyBlocksOp loop) {
  return loop.getBody()
      .walk([](Operation *op) {
        return isa<math::TanhOp, math::ExpOp, math::Exp2Op, math::LogOp,
                   math::SqrtOp, math::RsqrtOp>(op)
                   ? WalkResult::interrupt()
                   : WalkResult::advance();
      })
      .wasInterrupted();
}

/// Whether who looks tiles up reads elements of buffers in no order, many at a
/// time: that takes registers.
static bool readsExtrema(attn::KeyBlocksOp loop) {
  return llvm::any_of(loop->getRegions(), [](Region &region) {
    return !region.empty() && !region.front().getOps<attn::ExtremaOp>().empty();
  });
}

static bool isModified(attn::KeyBlocksOp loop) {
  return !loop.getBody().front().getOps<attn::MapOp>().empty();
}

/// The widest key block that fits, with two query buffers if they leave enough
/// keys: they are worth a quarter of the block.
static Schedule fitTiles(attn::KernelOp kernel, Schedule schedule,
                         const TargetInfo &target) {
  int64_t worthTwo = schedule.consumers == 3 ? 64 : 96;
  for (auto [buffers, narrowest] : {std::pair{2, worthTwo}, {1, int64_t(16)}}) {
    schedule.queryBuffers = buffers;
    for (int64_t keys = 128; keys >= narrowest; keys -= 16) {
      schedule.tileN = keys;
      if (estimateHopperFootprint(kernel, schedule, target).ctas)
        return schedule;
    }
  }
  return schedule;
}

Schedule qm::passes::proposeHopper(attn::KernelOp kernel,
                                   const TargetInfo &target) {
  int64_t d = std::max(getHeadDim(kernel), getValueHeadDim(kernel));
  attn::KeyBlocksOp loop = kernel.getKeyBlocks();
  bool masked = !loop.getClassify().empty();
  bool modified = isModified(loop);
  // Where scores have to be exact a function's forms take the registers that
  // two consumers have.
  bool special = usesSpecialFunctions(loop) && lowering::roundsScores(kernel);
  bool three =
      !masked && (d <= 64 ? !modified || special : d <= 128 && special);
  Schedule schedule = withConsumers(three ? 3 : 2);
  if (!three && readsExtrema(loop)) {
    schedule.producerRegisters = 40;
    schedule.consumerRegisters = 232;
  }
  // Under a mask tiles differ in length.
  schedule.dynamicOrder = masked;
  return fitTiles(kernel, schedule, target);
}

/// Whether a row keeps the keys up to one that its index alone decides: causal.
static bool keepsPrefixOfRow(attn::KeyBlocksOp loop) {
  if (loop.getBounds().empty())
    return false;
  Block &bounds = loop.getBounds().front();
  return matchPattern(bounds.getTerminator()->getOperand(0), m_Zero()) &&
         !bounds.getArgument(1).use_empty();
}

std::optional<Schedule>
qm::passes::proposeHopperForLongTiles(attn::KernelOp kernel,
                                      const TargetInfo &target) {
  attn::KeyBlocksOp loop = kernel.getKeyBlocks();
  bool narrow = std::max(getHeadDim(kernel), getValueHeadDim(kernel)) <= 64;
  bool capturesNothing = kernel.getNumInputs() == 3;
  if (!narrow || !capturesNothing || !keepsPrefixOfRow(loop) ||
      isModified(loop))
    return std::nullopt;
  Schedule schedule = withConsumers(3);
  schedule.dynamicOrder = 1;
  schedule = fitTiles(kernel, schedule, target);
  if (schedule.queryBuffers < 2)
    return std::nullopt;
  return schedule;
}
