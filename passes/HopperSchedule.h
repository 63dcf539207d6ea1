// The schedule of Hopper kernels: roles, tiles, buffers and registers from the
// head dims.
#pragma once

#include "passes/Schedule.h"

#include <optional>

namespace qm::passes {

/// Registers of a consumer and shared memory of a schedule with roles.
Footprint estimateHopperFootprint(attn::KernelOp kernel,
                                  const Schedule &schedule,
                                  const lowering::TargetInfo &target);

/// Three consumers where scores and output are small enough for 160 registers
/// or the score function keeps the special-function unit busy, and no mask
/// makes long query tiles wasteful; else two. The widest key block that fits,
/// query tiles double-buffered if that leaves key blocks of 96 (64 with three).
Schedule proposeHopper(attn::KernelOp kernel,
                       const lowering::TargetInfo &target);

/// Three consumers for a kernel that has two because tiles of 192 rows are
/// wasteful in short calls: causal and no more, head dims up to 64.
std::optional<Schedule>
proposeHopperForLongTiles(attn::KernelOp kernel,
                          const lowering::TargetInfo &target);

} // namespace qm::passes
