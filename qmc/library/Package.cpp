//===- Package.cpp - a library's images in one block of bytes -------------===//
#include "qmc/library/Package.h"

#include "runtime/PackageFormat.h"

#include <cstring>
#include <map>

using namespace llvm;
using namespace qm;
using namespace qm::driver;
using namespace qm::runtime;

std::string qm::driver::makePackage(StringRef manifest,
                                    ArrayRef<const PackedImage *> images) {
  std::map<ContentHash, const PackedImage *> byHash;
  for (const PackedImage *image : images)
    byHash.try_emplace(image->hash, image);

  PackedImage packedManifest = packImage(manifest);
  PackageHeader header = {};
  memcpy(header.magic, packageMagic, sizeof packageMagic);
  header.version = packageVersion;
  header.imageCount = byHash.size();
  uint64_t at = sizeof header + byHash.size() * sizeof(PackageImage);
  auto place = [&](const PackedImage &image) {
    PackedBlock block = {at, image.packed.size(), image.bytes};
    at += image.packed.size();
    return block;
  };
  header.manifest = place(packedManifest);
  std::vector<PackageImage> table;
  for (const auto &[hash, image] : byHash) {
    PackageImage &entry = table.emplace_back();
    memcpy(entry.hash, hash.data(), hash.size());
    entry.block = place(*image);
  }
  header.totalBytes = at;
  uint64_t checksum = addToChecksum(checksumStart, &header, sizeof header);
  header.checksum =
      addToChecksum(checksum, table.data(), table.size() * sizeof table[0]);

  std::string bytes(reinterpret_cast<const char *>(&header), sizeof header);
  bytes.append(reinterpret_cast<const char *>(table.data()),
               table.size() * sizeof(PackageImage));
  bytes += packedManifest.packed;
  for (const auto &[hash, image] : byHash)
    bytes += image->packed;
  return bytes;
}
