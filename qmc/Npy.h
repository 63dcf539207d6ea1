//===- Npy.h - numpy's array files ------------------------------*- C++ -*-===//
#pragma once

#include "lowering/reference/HostTensor.h"

#include "mlir/Support/LLVM.h"

#include <string>

namespace qm::driver {

/// Reads a .npy file (format 1 to 3, little-endian, either order). Its u2 and
/// V2 come as bf16, the common ways to store that type.
mlir::FailureOr<reference::HostTensor> readNpy(llvm::StringRef path);

/// The bytes of a .npy file holding `tensor` in row-major order. numpy has no
/// bf16: it is widened to f4, which is exact.
std::string makeNpy(const reference::TensorView &tensor);

/// The bytes of an uncompressed .npz.
std::string
makeNpz(llvm::ArrayRef<std::pair<std::string, std::string>> entries);

} // namespace qm::driver
