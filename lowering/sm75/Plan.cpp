// Reads a scheduled kernel and checks it against what sm_75 can do.
#include "lowering/sm75/Plan.h"

#include "dialect/Diagnostics.h"
#include "lowering/common/KernelInfo.h"
#include "lowering/common/TargetInfo.h"

using namespace mlir;
using namespace qm;
using namespace qm::sm75;
using diag::Id;
using sm80::Plan;

/// Scores and accumulator may take this many of the 255 registers; the tile on
/// its way through registers, addresses, statistics and fragments need the
/// rest.
static constexpr int64_t arrayRegisterLimit = 192;
/// Q stays in registers while everything together leaves room for P.
static constexpr int64_t residentQueryLimit = 160;
static constexpr int64_t maxHeadDim = 256;

static LogicalResult checkTypes(attn::KernelOp kernel) {
  auto check = [&](Operation *at, StringRef what, Value tensor,
                   StringRef help) -> LogicalResult {
    Type type = cast<RankedTensorType>(tensor.getType()).getElementType();
    if (type.isF16())
      return success();
    return diag::help(diag::error(at, Id::OperandTypeNotSupported)
                          << what << " of type " << type
                          << " are not supported on sm_75; f16 is",
                      help);
  };
  if (failed(check(kernel, "operands", kernel.getQ(),
                   "give q, k and v as f16, or use --arch=sm_80 or "
                   "--arch=cpu")))
    return failure();
  for (auto store : kernel.getBody().front().getOps<attn::StoreTileOp>()) {
    auto type = cast<RankedTensorType>(store.getDestination().getType());
    if (type.getRank() == 4 &&
        failed(check(store, "outputs", store.getDestination(),
                     "return o as f16, or use --arch=sm_80 or --arch=cpu")))
      return failure();
  }
  return success();
}

static LogicalResult checkHeadDim(attn::KernelOp kernel, StringRef what,
                                  int64_t size) {
  if (size >= 8 && size <= maxHeadDim && size % 8 == 0)
    return success();
  return diag::help(
      diag::error(kernel, Id::HeadDimNotSupported)
          << what << " head dim " << size
          << " is not supported on sm_75; multiples of 8 from 8 to "
          << maxHeadDim << " are",
      size > maxHeadDim
          ? Twine("use --arch=cpu")
          : "pad the head dim with zeros to " + Twine((size + 7) / 8 * 8) +
                ", or use --arch=cpu");
}

/// Rows and keys of a warp: micro_m and micro_n; 0: as many rows as the warps
/// leave, and all keys.
static LogicalResult readSchedule(attn::KernelOp kernel, Plan &plan) {
  attn::ScheduleAttr schedule = kernel.getScheduleAttr();
  auto error = [&](StringRef field, int64_t value) {
    return diag::error(kernel, Id::ScheduleNotSupported)
           << "schedule." << field << " = " << value
           << " is not supported on sm_75: ";
  };
  plan.tileM = schedule.getTileM();
  plan.tileN = schedule.getTileN();
  plan.stages = schedule.getStages();
  int64_t warps = schedule.getWarps(), warpKeys = schedule.getMicroN(),
          warpRows = schedule.getMicroM();
  if (warps < 1 || warps > 8)
    return diag::help(error("warps", warps) << "1 to 8 warps",
                      "use --set schedule.warps=4");
  if (plan.stages != 2)
    return diag::help(error("stages", plan.stages)
                          << "there is one key and one value tile in shared "
                             "memory, the next one waits in registers",
                      "use --set schedule.stages=2");
  int64_t step = std::max<int64_t>(16, 4 * warps);
  if (plan.tileN < step || plan.tileN % step)
    return diag::help(error("tile_n", plan.tileN)
                          << "with " << warps << " warps it is a multiple of "
                          << step,
                      "use --set schedule.tile_n=64");
  if (!warpKeys)
    warpKeys = plan.tileN;
  plan.keyWarps = plan.tileN / warpKeys;
  if (warpKeys % 16 || plan.tileN % warpKeys || plan.keyWarps > 2 ||
      warps % plan.keyWarps)
    return diag::help(error("micro_n", warpKeys)
                          << "a warp has all " << plan.tileN
                          << " keys of a block or, if their number is even, "
                             "one half",
                      "use --set schedule.micro_n=" + Twine(plan.tileN));
  plan.warps = warps / plan.keyWarps;
  if (!warpRows)
    warpRows = plan.tileM / plan.warps;
  if (warpRows != 16 && warpRows != 32)
    return diag::help(error(schedule.getMicroM() ? "micro_m" : "tile_m",
                            schedule.getMicroM() ? warpRows : plan.tileM)
                          << "a warp has 16 or 32 rows",
                      "use --set schedule.micro_m=32");
  plan.rowTiles = warpRows / 16;
  if (plan.tileM != warpRows * plan.warps)
    return diag::help(
        error("tile_m", plan.tileM)
            << plan.warps << " warps along the rows with " << warpRows
            << " rows each make " << warpRows * plan.warps,
        "use --set schedule.tile_m=" + Twine(warpRows * plan.warps));
  return success();
}

static LogicalResult checkFit(attn::KernelOp kernel, Plan &plan) {
  if (int64_t registers = plan.arrayRegisters(/*withQuery=*/false);
      registers > arrayRegisterLimit)
    return diag::help(
        diag::error(kernel, Id::TooManyRegisters)
            << plan.warpRows() << " rows and " << plan.warpKeys()
            << " keys of a warp with head dim " << plan.valueDim << " need "
            << registers
            << " registers a thread for scores and accumulator; the limit is "
            << arrayRegisterLimit,
        "use a smaller schedule.tile_n and micro_n, or 16 rows a warp "
        "(schedule.micro_m=16)");
  const lowering::TargetInfo *target =
      lowering::findTarget(kernel.getScheduleAttr().getTarget());
  plan.placePosition(target->sharedBytesPerCta);
  if (plan.sharedBytes() > target->sharedBytesPerCta)
    return diag::help(diag::error(kernel, Id::TooMuchSharedMemory)
                          << "the schedule needs " << plan.sharedBytes()
                          << " bytes of shared memory; " << target->name
                          << " gives a CTA " << target->sharedBytesPerCta,
                      "use a smaller schedule.tile_m or tile_n");
  return success();
}

FailureOr<Plan> qm::sm75::getPlan(attn::KernelOp kernel) {
  auto dim = [](Value tensor) {
    return cast<RankedTensorType>(tensor.getType()).getDimSize(3);
  };
  Plan plan = {};
  plan.headDim = dim(kernel.getQ());
  plan.valueDim = dim(kernel.getV());
  plan.hasLengths =
      lowering::KernelInfo::get(kernel).sequences != lowering::Sequences::Whole;
  if (failed(checkTypes(kernel)) || failed(checkPrecision(kernel, plan)) ||
      failed(checkHeadDim(kernel, "query and key", plan.headDim)) ||
      failed(checkHeadDim(kernel, "value", plan.valueDim)) ||
      failed(readSchedule(kernel, plan)) || failed(checkFit(kernel, plan)))
    return failure();
  plan.fragmentsAhead = 3;
  if (plan.arrayRegisters(/*withQuery=*/true) <= residentQueryLimit) {
    // The reads are spread by fences: left alone, ptxas reads ahead until it
    // spills (README.md).
    plan.residentQuerySteps = plan.columnSteps();
    plan.groupsToFence = 2;
  } else {
    plan.readsKeysEarly = true;
  }
  return plan;
}
