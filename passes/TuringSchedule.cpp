// The schedule of sm_75 kernels. What was measured is in
// lowering/sm75/README.md.
#include "passes/TuringSchedule.h"

#include "lowering/sm80/Layout.h"

using namespace qm;
using namespace qm::passes;
using lowering::TargetInfo;

/// Registers besides scores, accumulator and query fragments: addresses, loop
/// state, fragments in flight, and the tile on its way to shared memory.
static constexpr int64_t otherRegisters = 56;

Footprint qm::passes::estimateTuringFootprint(attn::KernelOp kernel,
                                              const Schedule &schedule,
                                              const TargetInfo &target) {
  int64_t threads = 32 * schedule.warps;
  int64_t warpKeys = schedule.microN ? schedule.microN : schedule.tileN;
  int64_t keyWarps = std::max<int64_t>(schedule.tileN / warpKeys, 1);
  int64_t warpRows = schedule.tileM * keyWarps / schedule.warps;
  int64_t widestRow = std::max(sm80::rowBytesFor(getHeadDim(kernel)),
                               sm80::rowBytesFor(getValueHeadDim(kernel)));
  Footprint footprint;
  footprint.registers =
      warpRows * (getValueHeadDim(kernel) + warpKeys) / 32 + otherRegisters;
  footprint.sharedBytes =
      widestRow * (schedule.tileM + schedule.stages * schedule.tileN);
  footprint.ctas = footprint.ctasThatFit(target, threads);
  return footprint;
}

/// `rowWarps` warps along the rows, `keyWarps` along the keys.
static Schedule divide(int64_t rowWarps, int64_t rows, int64_t keyWarps,
                       int64_t keys) {
  Schedule schedule;
  schedule.warps = rowWarps * keyWarps;
  schedule.tileM = rowWarps * rows;
  schedule.tileN = keyWarps * keys;
  schedule.microM = rows;
  schedule.microN = keys;
  schedule.stages = 2; // one key and one value tile
  return schedule;
}

Schedule qm::passes::proposeTuring(attn::KernelOp kernel,
                                   const TargetInfo &target) {
  Schedule narrow = divide(4, 32, 1, 64);
  if (estimateTuringFootprint(kernel, narrow, target).ctas >= 2)
    return narrow;
  Schedule schedule;
  for (auto [rows, keys] : {std::pair{32, 32}, {32, 16}, {16, 16}}) {
    schedule = divide(4, rows, 2, keys);
    if (estimateTuringFootprint(kernel, schedule, target).ctas)
      break;
  }
  return schedule;
}
