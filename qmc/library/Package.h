//===- Package.h - a library's images in one block of bytes -----*- C++ -*-===//
#pragma once

#include "qmc/library/KernelJob.h"

namespace qm::driver {

/// The package of runtime/PackageFormat.h: the manifest's text and each
/// different image once.
std::string makePackage(llvm::StringRef manifest,
                        llvm::ArrayRef<const PackedImage *> images);

} // namespace qm::driver
