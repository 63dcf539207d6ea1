//===- RandomData.h - reproducible data for a spec --------------*- C++ -*-===//
//
// The same seed gives the same data on every machine and for every layout: each
// element is a function of seed, argument name and logical index alone.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "lowering/reference/HostTensor.h"

#include "llvm/ADT/StringRef.h"

namespace qm::driver {

/// What an integer buffer is filled with.
enum class IntegerFill {
  Documents, ///< non-decreasing along the last dimension, about 8 values
  Lengths,   ///< uniform in [limit / 2, limit]
  Ragged,    ///< limit first, then one in eight 0, else uniform up to limit
  Flags      ///< 0 or 1, seven of eight are 1
};

/// Standard normal numbers, rounded to the element type.
void fillNormal(const reference::TensorView &tensor, uint64_t seed,
                llvm::StringRef name);

void fillIntegers(const reference::TensorView &tensor, uint64_t seed,
                  llvm::StringRef name, IntegerFill fill, int64_t limit);

} // namespace qm::driver
