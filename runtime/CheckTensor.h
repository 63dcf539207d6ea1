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

  const char *name() const { return argument->name.c_str(); }
  int rank() const { return argument->rank(); }
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
