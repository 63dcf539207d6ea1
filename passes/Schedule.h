// What every machine's choice of a schedule is made of: the fields to decide,
// and what a tile costs in registers and shared memory.
#pragma once

#include "dialect/AttnOps.h"
#include "lowering/common/TargetInfo.h"

namespace qm::passes {

/// The fields of #attn.schedule while they are decided.
struct Schedule {
  int64_t tileM = 0, tileN = 0, warps = 1, stages = 1, microM = 0, microN = 0;
  // Hopper only, except pingPong; see passes/HopperSchedule.h.
  int64_t consumers = 0, queryBuffers = 0, producerRegisters = 0,
          consumerRegisters = 0, pingPong = 0, persistent = 0, dynamicOrder = 0;
  int64_t oneLoop = 0;  ///< mma.sync: full and masked blocks share code
  int64_t polyExp2 = 0; ///< Hopper: exponentials of 16 that are a polynomial
};

/// What a schedule needs of an NVIDIA multiprocessor, before ptxas has its say.
struct Footprint {
  int64_t registers; ///< a thread, estimated: accumulators, scores, fragments,
                     ///< addresses
  int64_t sharedBytes; ///< a CTA: the query tile and the ring of key and value
                       ///< tiles
  int64_t ctas;        ///< resident on a multiprocessor; 0: does not fit

  static constexpr int64_t maxRegisters =
      255; ///< of a thread, on every target of today

  /// CTAs of `threads` that are resident on a multiprocessor, which keeps
  /// `reserved` bytes of shared memory for itself beside each; 0: none.
  int64_t ctasThatFit(const lowering::TargetInfo &target, int64_t threads,
                      int64_t reserved = 0) const;
};

int64_t getHeadDim(attn::KernelOp kernel);
int64_t getValueHeadDim(attn::KernelOp kernel);

} // namespace qm::passes
