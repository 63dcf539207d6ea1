//===- Call.h - the tensors of one call of a contract test ------*- C++ -*-===//
#pragma once

#include "lowering/reference/HostTensor.h"

#include <memory>

namespace qm::contract {

using Element = reference::DType;
using reference::TensorView;

/// Memory, and a view of some of it.
struct Tensor {
  Tensor() = default;
  /// Zero-filled, row-major.
  Tensor(Element type, llvm::ArrayRef<int64_t> extents);
  /// `view` of another tensor's memory.
  Tensor(const Tensor &owner, TensorView view);

  std::shared_ptr<reference::HostTensor> memory;
  TensorView view;

  /// Bytes from the start of the memory to element [0, ...].
  int64_t offsetBytes() const;
  /// Entries [first, first + count) of dimension `dim`.
  Tensor slice(unsigned dim, int64_t first, int64_t count) const;
  /// Calls `f(index)` for each element in row-major order.
  void forEach(llvm::function_ref<void(llvm::ArrayRef<int64_t>)> f) const;
  void fill(double value) const;
  std::vector<double> values() const; ///< row-major
};

/// Copies element by element; the extents are the same.
void copy(const Tensor &from, const Tensor &to);

/// Sizes of a call. Head counts and head dims are those of its spec.
struct Shape {
  int64_t queries = 1, keys = 1;
  int64_t batch = 1, heads = 2, kvHeads = 1;
  int64_t headDim = 64, valueDim = 64;
};

/// Arguments of a call. Outputs begin as NaN: what is not written shows.
struct Call {
  Tensor q, k, v;
  std::vector<std::variant<Tensor, int32_t, float>> captures;
  Tensor o, lse;
  Tensor rowMax; ///< without memory unless the spec returns it

  std::vector<reference::Argument> inputs() const;
  /// The launch contract's order: inputs, o, lse, row maxima if there are.
  std::vector<reference::Argument> all() const;
  /// New memory for the outputs, NaN again.
  void resetOutputs();
  /// Makes room for row maxima.
  void addRowMax();
  Shape shape() const;
};

/// Standard normal q, k and v.
Call randomCall(Element type, const Shape &shape, unsigned seed = 1);
/// q = 0 and V[j, :] = j: every kept key weighs the same, so O is the mean of
/// the kept j and lse the logarithm of their number. K is small whole numbers.
Call uniformProbe(Element type, const Shape &shape);
/// The 4x4 example of test/data/k4.json in column 0 of q, k and v; other
/// columns of q and k are 0, and V's all are column 0.
Call k4Call(Element type, const Shape &shape);

/// The same elements with tokens outermost in memory, [T, H, D], as packed
/// sequences usually lie.
Tensor tokensOutermost(const Tensor &tensor);

/// A one-dimensional capture.
Tensor vectorOf(Element type, llvm::ArrayRef<int64_t> values);

} // namespace qm::contract
