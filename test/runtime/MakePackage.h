//===- MakePackage.h - packages for tests, as qmc makes them ----*- C++ -*-===//
#pragma once

#include "runtime/qm.h"

#include <string>
#include <vector>

namespace probe {

/// A package with a manifest and images; an image's hash is its number, and its
/// name in the manifest `imageName(number)`.
std::string makePackage(const std::string &manifest,
                        const std::vector<std::string> &images);
std::string imageName(size_t number);

/// Embeds a package, with the probe's CPU code as the symbol "probe_entry".
qm_embedded embed(const std::string &package);

} // namespace probe
