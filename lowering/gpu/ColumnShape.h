// How the values of a mask run along the keys of one block. Blocks begin at
// multiples of their length, so much is known before the kernel runs: j / 128
// is the same in all of a block of 128 keys, (i - j) mod 4 repeats every four
// keys, j mod 128 goes up by one from key to key.
#pragma once

#include "dialect/AttnOps.h"

#include "mlir/Interfaces/InferIntRangeInterface.h"

namespace qm::gpu {

struct ColumnShape {
  enum Kind {
    Steps,    ///< changes at multiples of `size` keys only
    Linear,   ///< grows by `step` from key to key, without wrapping
    Periodic, ///< repeats after `size` keys
    Other
  } kind = Other;
  int64_t size = 0; ///< divides the keys of a block
  int64_t step = 0; ///< 1 or -1
  int64_t align =
      1; ///< of what is linear: divides its value at a block's first key

  bool isLinear() const { return kind == Linear; }
};

class ColumnShapes {
public:
  /// For the region of an attn.mask, in blocks of `blockKeys`.
  ColumnShapes(mlir::Block &body, int64_t blockKeys);

  ColumnShape of(mlir::Value value);
  /// The same for all keys of a block.
  bool isConstant(mlir::Value value) {
    ColumnShape shape = of(value);
    return shape.kind == ColumnShape::Steps && shape.size == blockKeys;
  }
  /// Least and greatest number that an integer can be.
  const mlir::ConstantIntRanges &rangeOf(mlir::Value value);

private:
  ColumnShape constant() const { return {ColumnShape::Steps, blockKeys, 0, 1}; }
  ColumnShape compute(mlir::Operation &op);
  ColumnShape sum(mlir::Operation &op);
  ColumnShape quotient(ColumnShape dividend, int64_t divisor) const;
  ColumnShape remainder(ColumnShape dividend, int64_t divisor) const;
  ColumnShape merge(mlir::Operation &op);

  int64_t blockKeys;
  llvm::DenseMap<mlir::Value, ColumnShape> shapes;
  llvm::DenseMap<mlir::Value, mlir::ConstantIntRanges> ranges;
};

/// x and c where `value` is floor(x / c) or x mod c, c a positive constant, in
/// the forms that the DSL writes.
struct Division {
  mlir::Value dividend;
  int64_t divisor;
};
std::optional<Division> matchQuotient(mlir::Value value);
std::optional<Division> matchRemainder(mlir::Value value);

} // namespace qm::gpu
