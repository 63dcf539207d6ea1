// What one kernel needs, as numbers: shapes, roles, registers, what lies where
// in shared memory. Read from the scheduled kernel; everything this lowering
// cannot do is refused here, before anything is emitted.
#pragma once

#include "dialect/AttnOps.h"

namespace qm::sm90 {

constexpr int64_t warpgroupThreads = 128;
constexpr int64_t consumerRows =
    64; ///< query rows of a consumer: those of one wgmma
constexpr int64_t panelColumns = 64; ///< a tile lies in panels of 64 columns =
                                     ///< 128 bytes, the width of the swizzle
constexpr int64_t panelRowBytes = 128;
constexpr int64_t productDepth = 16; ///< k of one wgmma
constexpr int64_t tileQueueEntryBytes = 80;
/// An entry of a table of extrema: the least and the greatest.
constexpr int64_t tableEntryBytes = 8;

/// Panels of a row of `columns`; the last one is padded with zeros by the
/// tensor copy.
constexpr int64_t panels(int64_t columns) {
  return (columns + panelColumns - 1) / panelColumns;
}

struct Plan {
  mlir::Type element;   ///< f16 or bf16: operands of both products
  int64_t headDim;      ///< columns of Q and K
  int64_t valueDim;     ///< columns of V and O
  int64_t tileM;        ///< query rows of a CTA
  int64_t tileN;        ///< keys of a block
  int64_t queryBoxRows; ///< of a tensor copy: a tile's, or a consumer's
  int64_t consumers; ///< warpgroups that compute, 64 rows each; one more loads
  int64_t stages;    ///< key blocks, and value blocks, in shared memory
  int64_t queryBuffers;
  int64_t producerRegisters, consumerRegisters;
  int64_t polyExp2;     ///< exponentials of 16 that are polynomials, where
                        ///< scores are bounded
  bool pingPong;        ///< the two consumers issue products in turns
  bool hasLengths;      ///< sequences have lengths of their own
  int64_t tableEntries; ///< of each table of extrema; 0: there are none
  int64_t tables;       ///< tables of extrema (ExtremaTables)
  int64_t tileCounters; ///< counters of the image for a run-time tile order; 0:
                        ///< the order is fixed

  int64_t threads() const { return warpgroupThreads * (consumers + 1); }
  /// Whether a warp of its own looks tiles up, ahead of the producer: where
  /// that takes long and the producer's warpgroup has a warp to spare.
  bool hasScheduler() const {
    return (tileCounters || hasLengths) && consumers + 1 < 4;
  }
  /// Entries of the queue of tiles. What is asked for early cannot go to a CTA
  /// that is done earlier: a second entry makes the last tiles end up to 5 %
  /// later. Short sequences need it: they end before the next tile is found.
  int64_t tileQueueSlots() const {
    return hasScheduler() && !hasLengths ? 1 : 2;
  }
  int64_t scoreRegisters() const { return tileN / 2; }
  int64_t accumulatorRegisters() const { return valueDim / 2; }
  /// Registers of a consumer beside scores, probabilities, accumulator and
  /// everything else that a step holds.
  int64_t spareRegisters() const;

  /// Bytes a tensor copy of a tile brings. A query buffer also stages the
  /// output.
  int64_t queryBytes() const { return tileM * panelRowBytes * panels(headDim); }
  int64_t keyBytes() const { return tileN * panelRowBytes * panels(headDim); }
  int64_t valueBytes() const {
    return tileN * panelRowBytes * panels(valueDim);
  }
  int64_t queryBufferBytes() const {
    return tileM * panelRowBytes * std::max(panels(headDim), panels(valueDim));
  }

  // Offsets in shared memory.
  int64_t queryOffset() const { return 0; }
  int64_t keyOffset() const { return queryBuffers * queryBufferBytes(); }
  int64_t valueOffset() const { return keyOffset() + stages * keyBytes(); }
  /// Barriers: full and empty ones of the query buffers, then of the key
  /// stages, then of the value stages.
  int64_t barrierOffset() const {
    return valueOffset() + stages * valueBytes();
  }
  int64_t queryBarriers() const { return barrierOffset(); }
  int64_t keyBarriers() const { return queryBarriers() + 16 * queryBuffers; }
  int64_t valueBarriers() const { return keyBarriers() + 16 * stages; }
  /// One barrier for each consumer and query buffer: the output is staged.
  int64_t stagedBarriers() const { return valueBarriers() + 16 * stages; }
  /// The queue of tiles: its barriers, then its entries.
  int64_t tileBarriers() const {
    return stagedBarriers() + 8 * consumers * queryBuffers;
  }
  int64_t tileSlots() const { return tileBarriers() + 16 * tileQueueSlots(); }
  int64_t tablesOffset() const {
    return tileSlots() + tileQueueSlots() * tileQueueEntryBytes;
  }
  /// A table has a header as long as an entry.
  int64_t sharedBytes() const {
    int64_t entries = tableEntries ? tableEntries + 1 : 0;
    return tablesOffset() + tables * tableEntryBytes * entries;
  }

  static mlir::FailureOr<Plan> get(attn::KernelOp kernel);
};

} // namespace qm::sm90
