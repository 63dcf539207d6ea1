//===- OperandRounding.cpp - f32 as a matrix unit takes it ----------------===//
#include "lowering/reference/OperandRounding.h"

#include "llvm/ADT/bit.h"

#include <cmath>

using namespace qm::reference;

float qm::reference::roundOperand(WideProducts products, float value) {
  if (!std::isfinite(value))
    return value;
  if (products == WideProducts::Tf32) {
    constexpr uint32_t lowBits = 0x1fff, half = 0x1000;
    return llvm::bit_cast<float>((llvm::bit_cast<uint32_t>(value) + half) &
                                 ~lowBits);
  }
  float high = static_cast<float>(roundTo(DType::BF16, value));
  return high + static_cast<float>(roundTo(DType::BF16, value - high));
}

RoundedArguments::RoundedArguments(llvm::ArrayRef<Argument> arguments,
                                   WideProducts products)
    : arguments(arguments.begin(), arguments.end()) {
  for (unsigned operand = 0; operand < 3; ++operand) {
    const auto &from = std::get<TensorView>(arguments[operand]);
    const TensorView &to =
        tensors.emplace_back(from.dtype, from.extents).view();
    llvm::SmallVector<int64_t, 4> index(from.rank(), 0);
    for (int64_t at = 0, count = from.numElements(); at < count; ++at) {
      float value = static_cast<float>(loadFloat(from, from.offset(index)));
      storeFloat(to, at, roundOperand(products, value));
      for (unsigned dim = from.rank(); dim-- > 0;) {
        if (++index[dim] < from.extents[dim])
          break;
        index[dim] = 0;
      }
    }
    this->arguments[operand] = to;
  }
}
