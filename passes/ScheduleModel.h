// The target model behind ChooseSchedule: what a tile costs in registers and
// shared memory, and which one to take.
#pragma once

#include "passes/Schedule.h"

namespace qm::passes {

Footprint estimateFootprint(attn::KernelOp kernel, const Schedule &schedule,
                            const lowering::TargetInfo &target);

/// The preferred schedule that fits; the smallest one if none does.
Schedule proposeSchedule(attn::KernelOp kernel,
                         const lowering::TargetInfo &target);

} // namespace qm::passes
