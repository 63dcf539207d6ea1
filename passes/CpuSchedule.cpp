// The schedule of CPU kernels.
#include "passes/CpuSchedule.h"

using namespace qm;
using namespace qm::passes;
using lowering::TargetInfo;

Schedule qm::passes::proposeCpu(const TargetInfo &target) {
  constexpr int64_t vectors = 3, strips = 4, keys = 128;
  Schedule schedule;
  schedule.microM = vectors * target.vectorBytes / 4;
  schedule.microN = target.vectorRegisters >= 32 ? 8 : 4;
  schedule.tileM = strips * schedule.microM;
  schedule.tileN = keys;
  return schedule;
}
