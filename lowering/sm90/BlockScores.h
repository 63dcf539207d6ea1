// The scores of a block of keys on their way to probabilities.
#pragma once

#include "lowering/gpu/UsualCase.h"
#include "lowering/sm90/KernelState.h"

#include <functional>

namespace qm::sm90 {

struct BlockScores;

/// The last map of a block's scores, left to whoever takes their exponentials:
/// each of its cases goes into a branch with these.
struct LateMap {
  mlir::Value unusual; ///< i1, uniform in the warp: some element needs the
                       ///< general case
  /// Applies a case to the elements from one number to another, which are
  /// multiples of `elementsTogether`.
  std::function<void(BlockScores &, unsigned, unsigned, gpu::Case)> apply;
};
/// Four neighbours in each of a thread's two rows.
constexpr unsigned elementsTogether = 8;

/// Those of an element are `elements` plus what is the same in the thread's
/// part of its row (null: nothing).
struct BlockScores {
  Fragment elements;
  Values rowTerms;
  bool masked = true; ///< some elements may be -inf because a mask says so
  std::optional<LateMap> late; ///< has yet to be applied

  explicit BlockScores(Fragment products)
      : elements(std::move(products)), rowTerms(2) {}
};

} // namespace qm::sm90
