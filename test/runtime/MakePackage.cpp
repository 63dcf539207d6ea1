//===- MakePackage.cpp - packages for tests, as qmc makes them ------------===//

#include "test/runtime/MakePackage.h"

#include "runtime/PackageFormat.h"
#include "test/runtime/Probe.h"

#include <cstdio>
#include <cstring>
#include <zstd.h>

using namespace qm::runtime;

namespace {

std::string compress(const std::string &bytes) {
  ZSTD_CCtx *context = ZSTD_createCCtx();
  ZSTD_CCtx_setParameter(context, ZSTD_c_checksumFlag, 1);
  std::string packed(ZSTD_compressBound(bytes.size()), '\0');
  packed.resize(ZSTD_compress2(context, packed.data(), packed.size(),
                               bytes.data(), bytes.size()));
  ZSTD_freeCCtx(context);
  return packed;
}

} // namespace

std::string probe::imageName(size_t number) {
  char text[80];
  snprintf(text, sizeof text, "sha256:%064zx", number);
  return text;
}

std::string probe::makePackage(const std::string &manifest,
                               const std::vector<std::string> &images) {
  PackageHeader header = {};
  memcpy(header.magic, packageMagic, sizeof packageMagic);
  header.version = packageVersion;
  header.imageCount = static_cast<uint32_t>(images.size());
  std::vector<PackageImage> table(images.size());
  size_t start = sizeof header + table.size() * sizeof(PackageImage);
  std::string content;
  auto place = [&](const std::string &bytes) {
    std::string packed = compress(bytes);
    PackedBlock block = {start + content.size(), packed.size(), bytes.size()};
    content += packed;
    return block;
  };
  header.manifest = place(manifest);
  for (size_t i = 0; i < images.size(); ++i) {
    table[i].hash[31] = static_cast<uint8_t>(i);
    table[i].block = place(images[i]);
  }
  header.totalBytes = start + content.size();
  uint64_t checksum = addToChecksum(checksumStart, &header, sizeof header);
  header.checksum = addToChecksum(checksum, table.data(),
                                  table.size() * sizeof(PackageImage));
  std::string bytes(reinterpret_cast<const char *>(&header), sizeof header);
  bytes.append(reinterpret_cast<const char *>(table.data()),
               table.size() * sizeof(PackageImage));
  return bytes + content;
}

qm_embedded probe::embed(const std::string &package) {
  static const qm_cpu_symbol symbols[] = {{"probe_entry", probe::run}};
  return {sizeof(qm_embedded), QM_ABI_VERSION, "probe", package.data(),
          package.size(),      symbols,        1,       nullptr};
}
