// The target model behind ChooseSchedule: each machine has a file of its own.
#include "passes/ScheduleModel.h"
#include "passes/AmpereSchedule.h"
#include "passes/CpuSchedule.h"
#include "passes/HopperSchedule.h"
#include "passes/TuringSchedule.h"

using namespace qm;
using namespace qm::passes;
using lowering::TargetInfo;
using lowering::TargetKind;

Footprint qm::passes::estimateFootprint(attn::KernelOp kernel,
                                        const Schedule &schedule,
                                        const TargetInfo &target) {
  if (schedule.consumers)
    return estimateHopperFootprint(kernel, schedule, target);
  if (target.sm == 75)
    return estimateTuringFootprint(kernel, schedule, target);
  return estimateAmpereFootprint(kernel, schedule, target);
}

Schedule qm::passes::proposeSchedule(attn::KernelOp kernel,
                                     const TargetInfo &target) {
  if (target.kind == TargetKind::Cpu)
    return proposeCpu(target);
  if (target.sm == 90)
    return proposeHopper(kernel, target);
  if (target.sm == 75)
    return proposeTuring(kernel, target);
  return proposeAmpere(kernel, target);
}
