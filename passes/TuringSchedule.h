// The schedule of sm_75 kernels: how the warps of a CTA divide a tile between
// rows and keys.
#pragma once

#include "passes/Schedule.h"

namespace qm::passes {

/// Registers and shared memory: the query tile and one key and value tile; the
/// next one waits in registers.
Footprint estimateTuringFootprint(attn::KernelOp kernel,
                                  const Schedule &schedule,
                                  const lowering::TargetInfo &target);

/// Four warps of 32 rows where two CTAs fit a multiprocessor (head dim 64);
/// else eight warps, two of them with half the keys of a block each; the widest
/// tile that fits 64 KB.
Schedule proposeTuring(attn::KernelOp kernel,
                       const lowering::TargetInfo &target);

} // namespace qm::passes
