//===- Analysis.h - what the compiler knows of a mask's blocks --*- C++ -*-===//
//
// The regions that LiftMask and BoundKeys derive from a mask, evaluated on
// blocks of 128 x 128 by the folders of their operations, beside the truth.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "test/dialect/dsl/catalogue/Entries.h"

namespace qm::test {

struct Analysis {
  int kept = 0; ///< Pairs.
  int blocks = 0;
  int full = 0, empty = 0;   ///< Blocks in truth; the rest is partial.
  int skipped = 0, bare = 0; ///< Said to be empty; to be full.
  int wrong = 0;             ///< Kept pairs skipped or out of bounds, dropped
                             ///< pairs in blocks said to be full.
  bool bounded = false;      ///< The loop over key blocks has bounds.
  int inBounds = 0;          ///< Key blocks between the bounds, all tiles.
  int inTightest = 0;        ///< The same for the best possible bounds.

  /// Every empty block is skipped, every full one runs without the mask.
  bool isExact() const { return skipped == empty && bare == full; }
};

/// Analyses one entry, for batch entry 0 and head 0.
Analysis analyse(size_t entry);

} // namespace qm::test
