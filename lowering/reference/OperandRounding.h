//===- OperandRounding.h - f32 as a matrix unit takes it --------*- C++ -*-===//
//
// Matrix units have no f32 operands. A kernel for one rounds them, and so does
// the yardstick that it is compared with: unfused, f32 sums, the same operands.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "lowering/reference/HostTensor.h"

#include <deque>

namespace qm::reference {

enum class WideProducts {
  Tf32,  ///< 10 bits after the point, ties away from zero
  Bf16x3 ///< the sum of two bf16
};

float roundOperand(WideProducts products, float value);
/// The largest relative error of it.
constexpr double operandRoundoff(WideProducts products) {
  return products == WideProducts::Tf32 ? 0x1p-11 : 0x1p-17;
}

/// Arguments of a call with q, k and v, the first three, rounded.
class RoundedArguments {
public:
  RoundedArguments(llvm::ArrayRef<Argument> arguments, WideProducts products);
  llvm::ArrayRef<Argument> get() const { return arguments; }

private:
  std::deque<HostTensor> tensors; ///< stable addresses
  std::vector<Argument> arguments;
};

} // namespace qm::reference
