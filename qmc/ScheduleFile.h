//===- ScheduleFile.h - schedules that were timed ---------------*- C++ -*-===//
//
// A list of rows {"spec", "target", "set": ["schedule.tile_n=96", ...], "ms",
// "call": {"batch", "sq", "skv"}, "gpu"}. Times of all candidates and the
// chosen schedules have the same form; `qmc build --schedules=FILE` takes of
// each spec and target the fastest row.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "mlir/Support/LLVM.h"
#include "llvm/Support/JSON.h"

#include <string>
#include <vector>

namespace qm::driver {

struct TimedSchedule {
  std::string spec, target;
  std::vector<std::string> overrides; ///< none: the default schedule
  double milliseconds = 0;
  llvm::json::Object call; ///< what was timed
  std::string gpu;

  /// "default", or the overrides without their common words.
  std::string title() const;
};

/// Errors are reported.
mlir::FailureOr<std::vector<TimedSchedule>>
readTimedSchedules(llvm::StringRef path);

/// The fastest of each spec and target, in order of their first rows.
std::vector<TimedSchedule> getFastest(const std::vector<TimedSchedule> &rows);

llvm::json::Value toJson(const std::vector<TimedSchedule> &rows);

/// The overrides that a file of --schedules asks for on a target, each for the
/// kernel of its spec: "SPEC:schedule.tile_n=96".
mlir::FailureOr<std::vector<std::string>>
readScheduleOverrides(llvm::StringRef path, llvm::StringRef target);

} // namespace qm::driver
