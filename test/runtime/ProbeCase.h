//===- ProbeCase.h - a case file of the probe kernel ----------------------===//
#pragma once

#include "runtime/CaseFile.h"

namespace probe {

/// A case of the probe kernel with right expectations, for a manifest
/// "probe.json" beside it. o has a margin before and after each row.
qm::runtime::CaseFile makeCase();

} // namespace probe
