//===- CallCache.h - the last calls that were found right -------*- C++ -*-===//
//
// A service calls with the same buffers and shapes again and again. A kernel
// keeps its last few GPU calls by all that their checks look at, so that such a
// call is compared once and not checked and packed anew. One thread at a time
// uses the cache; another that finds it taken packs for itself and waits for
// nothing.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "runtime/PackArguments.h"

#include <atomic>

namespace qm::runtime {

class CallCache {
public:
  /// Whether this very call was found right before; `packed` is as it was.
  bool get(const Signature &signature, const qm_value *values, size_t count,
           PackedCall &packed);
  /// Keeps a call that packArguments accepted, in the place of the oldest.
  void put(const Signature &signature, const qm_value *values, size_t count,
           const PackedCall &packed);

private:
  /// Larger calls are not kept: comparing would cost what it saves.
  static constexpr size_t maxWords = 96, maxKept = 64, calls = 4;

  /// Everything that the checks and the slots depend on.
  struct Key {
    size_t count = 0; ///< 0: none
    int64_t words[maxWords];

    bool read(const Signature &signature, const qm_value *values, size_t n);
  };
  struct Call {
    Key key;
    PackedCallHead head;
    int64_t slots[maxKept];
  };

  std::atomic_flag taken;
  Call kept[calls];
  size_t oldest = 0;
};

} // namespace qm::runtime
