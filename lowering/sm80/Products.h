// The two products: scores = Q K^T and accumulator += P V, fragments read ahead
// of the mma that use them.
#pragma once

#include "lowering/sm80/CopyTiles.h"

namespace qm::sm80 {

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

/// The fragments that a product with a key tile begins with.
struct FirstFragments {
  llvm::SmallVector<nvvm::Values> keys, query;

  llvm::SmallVector<nvvm::Values *> all();
};
/// Reads them before the product, while another one ends.
FirstFragments readFirstFragments(KernelState &state, QueryFragments &query,
                                  const SharedPlace &keys);

/// `first`: those of the tile; none: they are not read yet.
Accumulator emitScores(KernelState &state, QueryFragments &query,
                       TileSupply::Visible &keys,
                       std::optional<FirstFragments> first);

/// `probabilities` is called once the first fragments are on their way; it
/// returns P, or null after an error.
llvm::LogicalResult emitAccumulate(KernelState &state,
                                   TileSupply::Visible &values,
                                   llvm::function_ref<Packed *()> probabilities,
                                   Accumulator &accumulator);

} // namespace qm::sm80
