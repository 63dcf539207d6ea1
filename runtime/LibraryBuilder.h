//===- LibraryBuilder.h - from a manifest to a library ----------*- C++ -*-===//
#pragma once

#include "runtime/Library.h"

#include <functional>

namespace qm::runtime {

/// Gives a variant its image; one for files, one for memory, one for packages.
using ImageSource = std::function<int(Variant &)>;

/// Fills an empty library with the kernels and operators of a manifest;
/// `origin` names it in messages.
int fillLibrary(std::string manifest, const char *origin,
                const ImageSource &getImage, Library &library);

/// Finds out what an image of a variant is, and whether it fits the manifest.
int recogniseImage(const ManifestEntry &entry, std::string_view bytes,
                   ImageFormat &format);

} // namespace qm::runtime
