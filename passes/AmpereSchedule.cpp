// The schedule of sm_80 kernels. What was measured is in
// lowering/sm80/README.md.
#include "passes/AmpereSchedule.h"

#include "lowering/common/KernelInfo.h"
#include "lowering/sm80/Layout.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/BuiltinTypes.h"

using namespace mlir;
using namespace qm;
using namespace qm::passes;
using lowering::TargetInfo;

static bool hasWideOperands(attn::KernelOp kernel) {
  return cast<RankedTensorType>(kernel.getQ().getType())
      .getElementType()
      .isF32();
}

/// Registers of a thread besides tiles: addresses, loop state, operand
/// fragments in flight. Accumulator and scores of 192 are what 255 hold.
static constexpr int64_t baseRegisters = 63;
/// Operands of 32 bits are made of more registers each.
static constexpr int64_t wideRegisters = 32;
/// What the system keeps of shared memory for every CTA.
static constexpr int64_t reservedSharedBytes = 1 << 10;

Footprint qm::passes::estimateAmpereFootprint(attn::KernelOp kernel,
                                              const Schedule &schedule,
                                              const TargetInfo &target) {
  int64_t d = getHeadDim(kernel), dv = getValueHeadDim(kernel);
  int64_t threads = 32 * schedule.warps;
  int64_t accumulator = schedule.tileM * dv / threads;
  int64_t scores = schedule.tileM * schedule.tileN / threads;
  Footprint footprint;
  bool wide = hasWideOperands(kernel);
  footprint.registers =
      accumulator + scores + baseRegisters + (wide ? wideRegisters : 0);
  // Stages alternate between K and V tiles, each as wide as the wider of the
  // two; ping-pong has its stages of both. The query tile stages the output.
  auto rowBytesFor = [&](int64_t columns) {
    return sm80::rowBytesFor(wide ? sm80::wideColumns(columns) : columns);
  };
  int64_t rowBytes = std::max(rowBytesFor(d), rowBytesFor(dv));
  int64_t slots = (schedule.pingPong ? 2 : 1) * schedule.stages;
  footprint.sharedBytes = rowBytes * (schedule.tileM + slots * schedule.tileN);
  footprint.ctas = footprint.ctasThatFit(target, threads, reservedSharedBytes);
  return footprint;
}

/// Ping-pong: two groups of four warps in turns, `rows` of the tile a warp.
static std::optional<Schedule> makePingPong(attn::KernelOp kernel,
                                            const TargetInfo &target,
                                            int64_t rows, int64_t keys) {
  Schedule schedule;
  schedule.warps = 8;
  schedule.tileM = rows * schedule.warps;
  schedule.tileN = keys;
  schedule.stages = 3;
  schedule.pingPong = 1;
  if (estimateAmpereFootprint(kernel, schedule, target).ctas == 0)
    return std::nullopt;
  return schedule;
}

/// Ping-pong beats two loose CTAs where tiles are long and equal, that is
/// without a mask, as long as 32 rows a warp fit the registers. Under a mask it
/// wins for long sequences only (16 thousand keys), which is known at run time:
/// there the ring is the safe choice, and so it is for sequences with lengths
/// of their own, which may be many and short. Where the ring has one CTA a
/// multiprocessor, because heads are so wide, the turns win under masks too, if
/// the score function, whose code they have twice, is small.
/// lowering/sm80/README.md has the numbers.
static std::optional<Schedule> proposePingPong(attn::KernelOp kernel,
                                               const TargetInfo &target,
                                               const Schedule &ring) {
  constexpr int64_t widestOfTwoRowTiles = 128;
  if (hasWideOperands(kernel) ||
      lowering::KernelInfo::get(kernel).sequences != lowering::Sequences::Whole)
    return std::nullopt;
  if (std::max(getHeadDim(kernel), getValueHeadDim(kernel)) <=
      widestOfTwoRowTiles) {
    if (!kernel.getKeyBlocks().getClassify().empty())
      return std::nullopt;
    return makePingPong(kernel, target, /*rows=*/32, /*keys=*/64);
  }
  if (ring.oneLoop || estimateAmpereFootprint(kernel, ring, target).ctas != 1)
    return std::nullopt;
  return makePingPong(kernel, target, /*rows=*/16, /*keys=*/32);
}

/// The ring: 32 query rows a warp, so that one fragment of K or V feeds two
/// products (16 where the accumulator is wide), and the first of these that
/// leaves eight warps on a multiprocessor, else the most that fit. Where it
/// costs no warps, a third stage pays without a mask and where a block's
/// products are short.
static Schedule proposeRing(attn::KernelOp kernel, const TargetInfo &target) {
  constexpr int64_t enoughWarps = 8;
  struct Candidate {
    int64_t rows, warps, keys;
  };
  auto residentWarps = [&](const Schedule &schedule) {
    int64_t ctas = estimateAmpereFootprint(kernel, schedule, target).ctas;
    return std::min(enoughWarps, ctas * schedule.warps);
  };
  Schedule best;
  int64_t most = -1;
  for (Candidate candidate :
       {Candidate{32, 4, 64}, Candidate{32, 4, 32}, Candidate{16, 4, 64},
        Candidate{16, 8, 64}, Candidate{16, 8, 32}, Candidate{16, 4, 32}}) {
    Schedule schedule;
    schedule.warps = candidate.warps;
    schedule.tileM = candidate.rows * candidate.warps;
    schedule.tileN = candidate.keys;
    schedule.stages = 2;
    if (int64_t warps = residentWarps(schedule); warps > most || most == 0) {
      best = schedule;
      most = warps;
    }
  }
  constexpr int64_t shortProducts = 64;
  bool deep =
      kernel.getKeyBlocks().getClassify().empty() ||
      std::max(getHeadDim(kernel), getValueHeadDim(kernel)) <= shortProducts;
  if (most > 0 && deep) {
    Schedule deeper = best;
    deeper.stages = 3;
    if (residentWarps(deeper) == most)
      return deeper;
  }
  return best;
}

/// Instructions that the score functions take for an element, roughly: a
/// function such as tanh is a dozen, a load has an address and a clamp.
static int64_t countScoreInstructions(attn::KernelOp kernel) {
  constexpr int64_t function = 12, load = 4;
  int64_t count = 0;
  for (auto map : kernel.getKeyBlocks().getBody().front().getOps<attn::MapOp>())
    map->walk([&](Operation *op) {
      if (isa<attn::LoadOp>(op))
        count += load;
      else if (isa<math::MathDialect>(op->getDialect()))
        count += function;
      else if (isa<arith::ArithDialect>(op->getDialect()) &&
               !op->hasTrait<OpTrait::ConstantLike>())
        ++count;
    });
  return count;
}

Schedule qm::passes::proposeAmpere(attn::KernelOp kernel,
                                   const TargetInfo &target) {
  constexpr int64_t largeScore = 8;
  Schedule ring = proposeRing(kernel, target);
  ring.oneLoop = countScoreInstructions(kernel) > largeScore;
  return proposePingPong(kernel, target, ring).value_or(ring);
}
