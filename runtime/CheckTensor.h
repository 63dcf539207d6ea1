//===- CheckTensor.h - one tensor against its argument ----------*- C++ -*-===//
#pragma once

#include "runtime/Manifest.h"

namespace qm::runtime {

/// A tensor argument with the layout the kernel will see.
struct View {
  const Argument *argument;
  const DLTensor *tensor;
  int64_t *extents;
  int64_t *strides; ///< in elements

  bool packed = false; ///< of a kernel on packed sequences

  const char *name() const { return argument->name.c_str(); }
  int rank() const { return argument->rank(); }
  /// Packed sequences without the batch extent of 1: [tokens, heads, head dim]
  /// for q, k, v and o, [heads, tokens] for statistics.
  bool isFlat() const {
    return packed && (argument->isWide() || argument->isStatistic()) &&
           tensor->ndim == rank() - 1;
  }
  /// The tensor's dimension that is `dimension` of the argument; -1: the batch
  /// that it does not have.
  int dimensionOf(int dimension) const {
    if (!isFlat())
      return dimension;
    constexpr int wide[] = {-1, 1, 0, 2};
    return argument->isWide() ? wide[dimension] : dimension - 1;
  }
  bool empty() const {
    for (int i = 0; i < rank(); ++i)
      if (extents[i] == 0)
        return true;
    return false;
  }
};

/// The device of a call: that of q; where q is managed memory, which names no
/// device, that of the first tensor which does. All tensors are non-null.
int chooseDevice(const Signature &signature, const qm_value *values,
                 DLDevice &device);

/// Checks device, dtype, rank, extents, strides and address, in this order, and
/// fills the view's extents and strides and the address of element 0.
int checkTensor(const View &view, DLDevice device, int64_t &address);

} // namespace qm::runtime
