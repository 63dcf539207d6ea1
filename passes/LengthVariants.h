// Schedules for some lengths, beside the one for all: what a library has of a
// kernel by default.
#pragma once

#include "dialect/AttnOps.h"
#include "passes/TuningGrid.h"

namespace qm::passes {

/// A second schedule of a kernel, for calls of at least so many query rows and
/// keys.
struct LengthVariant {
  std::string name; ///< "long"
  int64_t leastQueries, leastKeys;
  ScheduleOverrides settings; ///< beside the default
};

/// Whether any kernel of the target has one.
bool mayHaveLengthVariants(const lowering::TargetInfo &target);

/// Those that were measured to be worth a kernel; few kernels have any.
/// `kernel` is scheduled.
std::vector<LengthVariant>
getLengthVariants(attn::KernelOp kernel, const lowering::TargetInfo &target);

} // namespace qm::passes
