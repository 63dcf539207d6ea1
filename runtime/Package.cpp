//===- Package.cpp - reading the images of a compiled library -------------===//

#include "runtime/Package.h"
#include "runtime/Error.h"

#include <cstring>
#include <zstd.h>

using namespace qm::runtime;

namespace {

/// No manifest or image is larger.
constexpr uint64_t maxBlockBytes = 1ull << 28;

int hexDigit(char c) {
  return c >= '0' && c <= '9'   ? c - '0'
         : c >= 'a' && c <= 'f' ? c - 'a' + 10
                                : -1;
}

bool parseHash(std::string_view name, uint8_t (&hash)[32]) {
  constexpr std::string_view prefix = "sha256:";
  if (name.size() != prefix.size() + 64 ||
      name.substr(0, prefix.size()) != prefix)
    return false;
  name.remove_prefix(prefix.size());
  for (int i = 0; i < 32; ++i) {
    int high = hexDigit(name[2 * i]), low = hexDigit(name[2 * i + 1]);
    if (high < 0 || low < 0)
      return false;
    hash[i] = static_cast<uint8_t>(high << 4 | low);
  }
  return true;
}

} // namespace

int Package::open(const void *data, size_t bytes, const char *name) {
  auto damaged = [&](const char *what) {
    return fail(QM_ERROR_LIBRARY_FILE,
                "%s: %s\nhelp: build the library again, and copy it whole and "
                "as a binary file",
                name, what);
  };
  if (bytes < sizeof header)
    return damaged("there are too few bytes for a library's package");
  memcpy(&header, data, sizeof header);
  if (memcmp(header.magic, packageMagic, sizeof packageMagic) != 0)
    return damaged("this is not a package of qmc's");
  if (header.version != packageVersion)
    return fail(QM_ERROR_LIBRARY_FILE,
                "%s: the package has version %u, this runtime reads version "
                "%u\nhelp: use the runtime that belongs to the compiler",
                name, header.version, packageVersion);
  if (header.totalBytes > bytes)
    return damaged("the package is cut short");
  uint64_t total = header.totalBytes;
  if (total < sizeof header ||
      header.imageCount > (total - sizeof header) / sizeof(PackageImage))
    return damaged("its table of images does not fit into it");

  base = static_cast<const char *>(data);
  origin = name;
  uint64_t tableBytes = header.imageCount * sizeof(PackageImage);
  PackageHeader summed = header;
  summed.checksum = 0;
  uint64_t checksum = addToChecksum(checksumStart, &summed, sizeof summed);
  checksum = addToChecksum(checksum, base + sizeof header, tableBytes);
  if (checksum != header.checksum)
    return damaged("the checksum of its table of images is wrong");

  auto fits = [&](const PackedBlock &block) {
    return block.bytes <= maxBlockBytes && block.offset <= total &&
           block.packedBytes <= total - block.offset;
  };
  bool valid = fits(header.manifest);
  for (uint32_t i = 0; valid && i < header.imageCount; ++i) {
    PackageImage image;
    memcpy(&image, base + sizeof header + i * sizeof image, sizeof image);
    valid = fits(image.block);
  }
  return valid ? QM_OK : damaged("an image lies outside of it");
}

int Package::readManifest(std::string &text) const {
  return unpack(dataOf(header.manifest), header.manifest.packedBytes,
                header.manifest.bytes, origin, text);
}

bool Package::find(std::string_view name, PackedBlock &block) const {
  uint8_t hash[32];
  if (!parseHash(name, hash))
    return false;
  uint32_t low = 0, high = header.imageCount;
  while (low < high) {
    uint32_t middle = low + (high - low) / 2;
    PackageImage image; // copied: the package may lie at any address
    memcpy(&image, base + sizeof header + middle * sizeof image, sizeof image);
    int order = memcmp(image.hash, hash, sizeof hash);
    if (order == 0) {
      block = image.block;
      return true;
    }
    (order < 0 ? low : high) = order < 0 ? middle + 1 : middle;
  }
  return false;
}

int qm::runtime::unpack(const void *packed, size_t packedBytes, size_t bytes,
                        const char *name, std::string &out) {
  // The frame says its size too: nothing is allocated for a lie.
  if (ZSTD_getFrameContentSize(packed, packedBytes) == bytes) {
    out.resize(bytes);
    size_t got = ZSTD_decompress(out.data(), bytes, packed, packedBytes);
    if (got == bytes)
      return QM_OK;
  }
  return fail(QM_ERROR_LIBRARY_FILE,
              "%s: %zu packed bytes do not unpack to %zu\nhelp: the library is "
              "damaged; build it again, and copy it whole and as a binary file",
              name, packedBytes, bytes);
}
