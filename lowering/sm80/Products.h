// The two products: scores = Q K^T and accumulator += P V, fragments read ahead
// of the mma that use them.
#pragma once

#include "lowering/sm80/CopyTiles.h"

namespace qm::sm80 {

/// Key and value fragments are read this many groups of mma (two for every row
/// tile) before their use.
constexpr unsigned fragmentsAhead = 2;

/// The query tile's fragments: in registers, or read from shared memory once a
/// key block.
class QueryFragments {
public:
  explicit QueryFragments(KernelState &state) : state(state) {}
  /// Reads everything into registers if the plan says so. The tile is visible.
  void load();
  /// Before the operands of a key block are asked for.
  void startBlock();
  /// The A operand of row tile `t` at 16 columns `step`.
  nvvm::Values operand(unsigned t, unsigned step);

private:
  nvvm::Values read(unsigned t, unsigned step);

  KernelState &state;
  Int lane; ///< address of the lane's part of the warp's first row tile
  llvm::SmallVector<nvvm::Values> resident;
};

Accumulator emitScores(KernelState &state, QueryFragments &query,
                       TileSupply::Visible &keys);

/// `probabilities` is called once the first fragments are on their way; it
/// returns P, or null after an error.
llvm::LogicalResult emitAccumulate(KernelState &state,
                                   TileSupply::Visible &values,
                                   llvm::function_ref<Packed *()> probabilities,
                                   Accumulator &accumulator);

} // namespace qm::sm80
