// Reads a scheduled kernel and checks it against what this lowering and its
// target can do.
#include "lowering/sm80/Plan.h"

#include "dialect/Diagnostics.h"
#include "lowering/common/KernelInfo.h"
#include "lowering/common/MatrixPrecision.h"
#include "lowering/common/TargetInfo.h"

using namespace mlir;
using namespace qm;
using namespace qm::sm80;
using diag::Id;

/// Scores, accumulator and query fragments may take this many of the 255
/// registers; addresses, statistics and fragments in flight need the rest (128
/// x 64 and head dim 128 use 192).
static constexpr int64_t arrayRegisterLimit = 208;
/// Q stays in registers while everything together leaves room for P and, with
/// two row tiles, twice the fragments in flight.
static constexpr int64_t residentQueryLimit = 160;
static constexpr int64_t residentQueryLimitOfOneRowTile = 192;

int64_t Plan::arrayRegisters(bool withQuery) const {
  int64_t perRowTile = valueDim / 2 + warpKeys() / 2 +
                       (withQuery ? headDim * elementBytes() / 8 : 0);
  return rowTiles * perRowTile;
}

bool Plan::registersAreScarce() const {
  return !pingPong && arrayRegisters(/*withQuery=*/false) > residentQueryLimit;
}

/// Where shared memory is what limits the kernel (one row tile: a fragment
/// feeds two mma), some steps are better than none.
static unsigned chooseResidentSteps(const Plan &plan) {
  if (plan.arrayRegisters(/*withQuery=*/true) <= residentQueryLimit)
    return plan.columnSteps();
  if (plan.rowTiles > 1 || plan.wide())
    return 0;
  int64_t left =
      residentQueryLimitOfOneRowTile - plan.arrayRegisters(/*withQuery=*/false);
  return std::clamp<int64_t>(left / plan.leftWords(), 0, plan.columnSteps());
}

/// Where reads of fragments stand among the products: what measured best at
/// head dims 64, 96 and 128 (README.md). With one row tile, and in rows without
/// a swizzle, ptxas's own order did.
static void placeReads(Plan &plan) {
  if (plan.wide() || plan.rowTiles < 2)
    return;
  bool readsQuery = plan.residentQuerySteps == 0;
  plan.readsKeysEarly = plan.pingPong && readsQuery;
  if (!isSwizzled(plan.queryRowBytes()) || !isSwizzled(plan.valueRowBytes()))
    return;
  if (readsQuery)
    plan.fragmentsAhead = 3;
  if (!plan.pingPong)
    plan.groupsToFence = 4;
}

static LogicalResult checkHeadDim(attn::KernelOp kernel, StringRef what,
                                  int64_t size) {
  if (size >= 8 && size <= 256 && size % 8 == 0)
    return success();
  return diag::help(diag::error(kernel, Id::HeadDimNotSupported)
                        << what << " head dim " << size
                        << " is not supported on NVIDIA targets; multiples of "
                           "8 from 8 to 256 are",
                    size > 256 ? "use --arch=cpu"
                               : "pad the head dim with zeros to " +
                                     Twine((size + 7) / 8 * 8) +
                                     ", or use --arch=cpu");
}

LogicalResult qm::sm80::checkPrecision(attn::KernelOp kernel, Plan &plan) {
  Type element =
      cast<RankedTensorType>(kernel.getQ().getType()).getElementType();
  plan.element = element;
  if (!element.isF32())
    return lowering::checkMatrixPrecision(kernel, element, "mma.sync");
  attn::PrecisionAttr precision = kernel.getPrecisionAttr();
  bool rounded = precision && precision.getQk().isTF32();
  plan.products = rounded ? Products::Tf32 : Products::Bf16x3;
  return lowering::checkMatrixPrecision(
      kernel, rounded ? precision.getQk() : element, "mma.sync");
}

static LogicalResult checkSchedule(attn::KernelOp kernel, Plan &plan) {
  auto error = [&](StringRef field, int64_t value) {
    return diag::error(kernel, Id::ScheduleNotSupported)
           << "schedule." << field << " = " << value
           << " is not supported on NVIDIA targets: ";
  };
  if (plan.warps < 1 || plan.warps > 8)
    return diag::help(error("warps", plan.warps) << "1 to 8 warps",
                      "use --set schedule.warps=4");
  if (plan.tileM != 16 * plan.warps && plan.tileM != 32 * plan.warps)
    return diag::help(error("tile_m", plan.tileM)
                          << "a warp has 16 or 32 rows, so " << plan.warps
                          << " warps make " << 16 * plan.warps << " or "
                          << 32 * plan.warps,
                      "use --set schedule.tile_m=" + Twine(32 * plan.warps));
  // A fragment has 16 keys, and all threads together copy 4 rows a warp.
  int64_t step = std::max<int64_t>(16, plan.copyRows());
  if (plan.tileN < step || plan.tileN % step)
    return diag::help(error("tile_n", plan.tileN)
                          << "with " << plan.warps
                          << " warps it is a multiple of " << step,
                      "use --set schedule.tile_n=64");
  if (plan.pingPong && (plan.warps % 2 || plan.stages != 3))
    return diag::help(error("ping_pong", 1)
                          << "with " << plan.warps << " warps and "
                          << plan.stages
                          << " stages; two groups of warps take turns, and "
                             "blocks have 3 slots",
                      "use --set schedule.ping_pong=0, or --set "
                      "schedule.warps=8 --set schedule.stages=3");
  if (plan.pingPong && plan.wide())
    return diag::help(error("ping_pong", 1)
                          << "operands of 32 bits leave it no registers",
                      "use --set schedule.ping_pong=0");
  if (plan.stages < 2 || plan.stages > 3)
    return diag::help(error("stages", plan.stages)
                          << "the ring of key and value tiles has 2 or 3 slots",
                      "use --set schedule.stages=2");
  if (int64_t registers = plan.arrayRegisters(/*withQuery=*/false);
      registers > arrayRegisterLimit)
    return diag::help(
        diag::error(kernel, Id::TooManyRegisters)
            << "tile_m = " << plan.tileM << ", tile_n = " << plan.tileN
            << " and " << plan.warps << " warps with head dim " << plan.valueDim
            << " need " << registers
            << " registers a thread for scores and accumulator; the limit is "
            << arrayRegisterLimit,
        "use a smaller schedule.tile_n, or half the rows a warp "
        "(schedule.tile_m=" +
            Twine(16 * plan.warps) + ")");
  const lowering::TargetInfo *target =
      lowering::findTarget(kernel.getScheduleAttr().getTarget());
  plan.placePosition(target->sharedBytesPerCta);
  if (plan.sharedBytes() > target->sharedBytesPerCta)
    return diag::help(diag::error(kernel, Id::TooMuchSharedMemory)
                          << "the schedule needs " << plan.sharedBytes()
                          << " bytes of shared memory; " << target->name
                          << " gives a CTA " << target->sharedBytesPerCta,
                      "use a smaller schedule.tile_m, tile_n or stages");
  return success();
}

FailureOr<Plan> Plan::get(attn::KernelOp kernel) {
  attn::ScheduleAttr schedule = kernel.getScheduleAttr();
  Plan plan = {};
  auto dim = [](Value tensor) {
    return cast<RankedTensorType>(tensor.getType()).getDimSize(3);
  };
  plan.headDim = dim(kernel.getQ());
  plan.valueDim = dim(kernel.getV());
  plan.hasLengths =
      lowering::KernelInfo::get(kernel).sequences != lowering::Sequences::Whole;
  plan.tileM = schedule.getTileM();
  plan.tileN = schedule.getTileN();
  plan.warps = schedule.getWarps();
  plan.stages = schedule.getStages();
  plan.pingPong = schedule.getPingPong();
  plan.oneLoop = schedule.getOneLoop();
  if (failed(checkPrecision(kernel, plan)) ||
      failed(checkHeadDim(kernel, "query and key", plan.headDim)) ||
      failed(checkHeadDim(kernel, "value", plan.valueDim)))
    return failure();
  plan.rowTiles = std::max<int64_t>(
      plan.tileM / (16 * std::max<int64_t>(plan.warps, 1)), 1);
  if (failed(checkSchedule(kernel, plan)))
    return failure();
  plan.residentQuerySteps = chooseResidentSteps(plan);
  plan.keepsCopyAddresses = !plan.registersAreScarce();
  placeReads(plan);
  return plan;
}
