// The schedule of mma.sync kernels with asynchronous copies (sm_80, sm_86,
// sm_89): ring or ping-pong.
#pragma once

#include "passes/Schedule.h"

namespace qm::passes {

/// Registers and shared memory: the query tile and the ring of key and value
/// tiles.
Footprint estimateAmpereFootprint(attn::KernelOp kernel,
                                  const Schedule &schedule,
                                  const lowering::TargetInfo &target);

/// Ping-pong where it wins, else the ring. The ring's loop for full blocks is a
/// second copy of a block's code, which is left out where the score function is
/// most of it: there it gains least and costs most (ptxas's time doubles).
Schedule proposeAmpere(attn::KernelOp kernel,
                       const lowering::TargetInfo &target);

} // namespace qm::passes
