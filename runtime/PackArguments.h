//===- PackArguments.h - a call's values to 64-bit slots --------*- C++ -*-===//
//
// Checks every value of a call against the kernel's signature and writes the
// slots of the launch contract (lowering/README.md). The same for every target;
// nothing is launched, written or allocated here.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "runtime/Manifest.h"

namespace qm::runtime {

/// Of a checked call: where it runs and how much there is to do.
struct PackedCallHead {
  DLDevice device; ///< {kDLCPU, 0} or {kDLCUDA, ordinal}
  int64_t batch = 0, queryHeads = 0, queries = 0;
  int64_t sequences = -1; ///< packed ones; -1: batch entries

  /// CTAs or CPU tiles of the call: B Hq ceil(Sq / tileM), of packed sequences
  /// Hq (floor(T / tileM) + sequences); at most INT32_MAX, else -1.
  int64_t tiles(int64_t tileM) const;
};

/// A checked call, ready to launch.
struct PackedCall : PackedCallHead {
  int64_t slots[maxSlots];
};

/// Returns a qm_status. Requires every `values[i].as.tensor` to be null or a
/// readable DLTensor; everything else about the values may be wrong.
int packArguments(const Signature &signature, const qm_value *values,
                  size_t count, PackedCall &packed);

/// The failure of a call whose tiles() is -1.
int failTooManyTiles(const Signature &signature, const PackedCall &call,
                     int64_t tileM);

} // namespace qm::runtime
