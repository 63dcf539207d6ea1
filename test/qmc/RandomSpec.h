// Random attention operators and random calls of them, from a seed.
#pragma once

#include "lowering/reference/HostTensor.h"

#include <cstdint>
#include <deque>
#include <random>
#include <string>
#include <vector>

namespace qm::test {

/// A function at the spec level, as text, and the shape of one call.
struct RandomSpec {
  std::string text;
  reference::DType dtype;
  int64_t batch, heads, kvHeads, sq, skv, headDim, valueDim;
  bool lse;
};

/// Draws from grammars of integer, boolean and score expressions. Scores stay
/// of moderate size and never jump with the last bit of q.k, so that an error
/// bound means something.
RandomSpec makeRandomSpec(uint64_t seed);

/// Arguments of a call: the inputs in any order of dimensions, with padding, a
/// batch stride of 0 now and then; then the outputs, filled with NaN.
class RandomCall {
public:
  RandomCall(const RandomSpec &spec, uint64_t seed);
  std::vector<reference::Argument> inputs, all;
  reference::TensorView o, lse;

private:
  reference::TensorView allocate(reference::DType dtype,
                                 llvm::ArrayRef<int64_t> extents, bool operand);
  std::mt19937_64 random;
  std::deque<reference::HostTensor> storage;
};

} // namespace qm::test
