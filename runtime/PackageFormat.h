//===- PackageFormat.h - a library's images in one block of bytes -*- C++ -*-=//
//
//   header | table of images, ascending by hash | manifest | images
//
// Manifest and images are zstd frames with checksums; each image is there once.
// Offsets count from the header, integers are little-endian. The checksum is of
// header and table, so that a cut or foreign block is known without unpacking.
//
//===----------------------------------------------------------------------===//
#pragma once

#include <cstddef>
#include <cstdint>

namespace qm::runtime {

// Not text: CR LF, the end of a DOS file and NUL tell a copy "as text".
constexpr char packageMagic[8] = {'Q', 'M', 'P', 'K', '\r', '\n', '\x1a', '\0'};
constexpr uint32_t packageVersion = 1;

struct PackedBlock {
  uint64_t offset;
  uint64_t packedBytes;
  uint64_t bytes; ///< after unpacking
};

struct PackageHeader {
  char magic[8];
  uint32_t version;
  uint32_t imageCount;
  uint64_t totalBytes;
  PackedBlock manifest;
  uint64_t checksum; ///< with this field 0
};

struct PackageImage {
  uint8_t hash[32]; ///< SHA-256 of the image
  PackedBlock block;
};

/// FNV-1a over `bytes`, going on from `state`.
constexpr uint64_t checksumStart = 0xcbf29ce484222325u;
inline uint64_t addToChecksum(uint64_t state, const void *data, size_t bytes) {
  const auto *byte = static_cast<const unsigned char *>(data);
  for (size_t i = 0; i < bytes; ++i)
    state = (state ^ byte[i]) * 0x100000001b3u;
  return state;
}

} // namespace qm::runtime
