//===- TensorMaps.h - an argument as the GPU's tensor copies see it -------===//
#pragma once

#include "runtime/PackArguments.h"
#include "runtime/cuda/Driver.h"

namespace qm::runtime::cuda {

/// Encodes a map for one call. Work of the host alone; nothing is allocated.
int encodeTensorMap(const Driver &driver, const Signature &signature,
                    const TensorMap &map, const PackedCall &call,
                    TensorMapBytes &out);

} // namespace qm::runtime::cuda
