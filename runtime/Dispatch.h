//===- Dispatch.h - which kernel of an operator a call runs -----*- C++ -*-===//
#pragma once

#include "runtime/Library.h"

namespace qm::runtime {

/// The first kernel whose element types, static extents and conditions are
/// those of the call and which has a variant for the call's device. Where the
/// call could fit none however the operator were built (a null tensor, a wrong
/// rank), the failure is that of packArguments.
int selectKernel(const Operator &op, const qm_value *values, size_t count,
                 const Kernel *&kernel);

/// The kernel's variant for a device, or the status that says why there is
/// none.
int selectVariant(const Kernel &kernel, DLDevice device,
                  const Variant *&variant);

} // namespace qm::runtime
