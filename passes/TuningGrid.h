// The schedules that are worth timing for a target: what `qmc tune` tries.
#pragma once

#include "lowering/common/TargetInfo.h"

#include <string>
#include <vector>

namespace qm::passes {

/// Overrides of one schedule: "schedule.tile_n=96". Empty: the default.
using ScheduleOverrides = std::vector<std::string>;

/// The default first. Some do not fit some head dims: that shows when they are
/// compiled. Empty for a target that is not tuned.
std::vector<ScheduleOverrides>
getTuningGrid(const lowering::TargetInfo &target);

} // namespace qm::passes
