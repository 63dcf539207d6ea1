// The target that a kernel's schedule names.
#include "lowering/common/KernelTarget.h"

using namespace qm;

const lowering::TargetInfo *lowering::getTarget(attn::KernelOp kernel) {
  attn::ScheduleAttr schedule = kernel.getScheduleAttr();
  return schedule ? findTarget(schedule.getTarget()) : nullptr;
}
