//===- RunCase.h - launch a case and check every output ---------*- C++ -*-===//
#pragma once

#include "runtime/CaseFile.h"
#include "runtime/tools/CaseMemory.h"

#include <string>

namespace qm::runtime {

struct CaseResult {
  bool passed = false;
  std::string flaw;        ///< why it did not pass
  double maxError = 0;     ///< largest |got - expected| of all outputs
  double worst = 0;        ///< largest share of its tolerance an error takes
  double milliseconds = 0; ///< median of the timed launches, if asked for
};

/// Runs a case: outputs are filled with NaN, the kernel is launched, every
/// element is compared, memory around the outputs must be untouched, and a
/// second launch must give the same bits. Then, if `repeats` > 0, it is timed.
CaseResult runCase(const CaseFile &file, const qm_kernel *kernel,
                   CaseMemory &memory, int repeats);

} // namespace qm::runtime
