//===- ScheduleReasons.h - why a schedule is what it is ---------*- C++ -*-===//
#pragma once

#include "dialect/AttnOps.h"
#include "passes/ScheduleModel.h"

#include <string>
#include <vector>

namespace qm::driver {

/// The fields of the attribute as the schedule model has them.
passes::Schedule getSchedule(attn::KernelOp kernel);

/// One line a field. `overrides` are those of --set: a field that they give
/// says so instead of a reason.
std::vector<std::string> explainSchedule(attn::KernelOp kernel,
                                         const lowering::TargetInfo &target,
                                         llvm::ArrayRef<std::string> overrides);

} // namespace qm::driver
