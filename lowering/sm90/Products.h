// The two products of a consumer, issued and not waited for: scores = Q K^T
// with both operands in shared memory, and accumulator += P V with P in
// registers.
#pragma once

#include "lowering/sm90/Barriers.h"

namespace qm::sm90 {

/// Descriptors of buffer 0 of keys and values; the consumer's own rows of Q are
/// those of the tile under way.
class Products {
public:
  explicit Products(KernelState &state);

  /// `query`: address of the consumer's rows. The result is there after
  /// waitForScores.
  Fragment issueScores(Int query, Cursor key);
  /// `p`: probabilities, packed in pairs, in the registers of the A operand.
  void issueAccumulate(Fragment &accumulator, Values &p, Cursor value);

  /// Waits for the scores; an accumulation issued after them may go on.
  void waitForScores(Fragment &scores, bool accumulationUnderWay);
  void waitForAll(Fragment &accumulator);

private:
  KernelState &state;
  Int keys, values;
};

} // namespace qm::sm90
