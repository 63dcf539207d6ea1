// The schedule of CPU kernels: tiles from the width and number of vector
// registers.
#pragma once

#include "passes/Schedule.h"

namespace qm::passes {

/// The register tile fills the vector registers with accumulators (vectors
/// of query rows by keys), leaving some for operands; the block of scores of
/// one strip stays in the first-level cache; a tile has four strips so that
/// conversions of K and V are shared.
Schedule proposeCpu(const lowering::TargetInfo &target);

} // namespace qm::passes
