//===- Package.h - reading the images of a compiled library -----*- C++ -*-===//
#pragma once

#include "runtime/PackageFormat.h"

#include <string>
#include <string_view>

namespace qm::runtime {

/// A view of a package; the bytes are the caller's and stay where they are.
class Package {
public:
  /// Checks header, table and bounds; `origin` names the package in messages.
  /// Returns a qm_status.
  int open(const void *data, size_t bytes, const char *origin);

  /// Unpacks the manifest's text.
  int readManifest(std::string &text) const;

  /// Finds the image with the content hash "sha256:<64 hex digits>".
  bool find(std::string_view name, PackedBlock &block) const;
  const void *dataOf(const PackedBlock &block) const {
    return base + block.offset;
  }

private:
  const char *base = nullptr;
  const char *origin = "";
  PackageHeader header = {};
};

/// Unpacks a block into `out`, of exactly `bytes` bytes and a NUL after them;
/// `name` says in messages what it is.
int unpack(const void *packed, size_t packedBytes, size_t bytes,
           const char *name, std::string &out);

} // namespace qm::runtime
