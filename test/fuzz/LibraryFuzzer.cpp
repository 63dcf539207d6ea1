//===- LibraryFuzzer.cpp - bytes as a manifest, a package, an image -------===//
//
// The first byte says what the others are. Whatever they are, loading gives a
// library or a status with a text; what loads can be listed and asked, and
// calls of it are refused or (with CPU code that does nothing) run.
//
//===----------------------------------------------------------------------===//

#include "runtime/cuda/ImageFormat.h"
#include "runtime/qm.h"
#include "test/runtime/MakePackage.h"
#include "test/runtime/Probe.h"

#include <cstdlib>
#include <cstring>
#include <string>

namespace {

void nothing(const int64_t *, int64_t, int64_t) {}

void require(bool condition) {
  if (!condition)
    abort();
}

/// Every question about every kernel and operator, and a call of each.
void useAll(qm_library *library) {
  static const probe::Arguments arguments;
  static const std::vector<qm_value> values = arguments.values();
  for (size_t i = 0; i < qm_library_kernel_count(library); ++i) {
    const qm_kernel *kernel = nullptr;
    require(qm_library_kernel_at(library, i, &kernel) == QM_OK);
    qm_kernel_info info = {sizeof info, nullptr, 0, 0};
    require(qm_kernel_get_info(kernel, &info) == QM_OK && info.name);
    for (size_t j = 0; j < info.argument_count; ++j) {
      qm_argument_info argument = {};
      argument.size = sizeof argument;
      require(qm_kernel_get_argument(kernel, j, &argument) == QM_OK);
    }
    for (size_t j = 0; j < info.variant_count; ++j) {
      qm_variant_info variant = {};
      variant.size = sizeof variant;
      require(qm_kernel_get_variant(kernel, j, &variant) == QM_OK);
    }
    qm_launch(kernel, values.data(), values.size(), nullptr);
  }
  for (size_t i = 0; i < qm_library_operator_count(library); ++i) {
    const qm_operator *op = nullptr;
    require(qm_library_operator_at(library, i, &op) == QM_OK);
    if (qm_operator_launch(op, values.data(), values.size(), nullptr))
      require(strncmp(qm_last_error(), "QM05", 4) == 0);
  }
}

void asManifest(const std::string &text) {
  qm_image images[] = {{sizeof(qm_image), "a", nullptr, 0, nothing},
                       {sizeof(qm_image), "probe.so", nullptr, 0, nothing}};
  static const std::string ptx = probe::ptx();
  images[0].data = ptx.data();
  images[0].bytes = ptx.size();
  qm_library *library = nullptr;
  int status = qm_library_create(text.data(), text.size(), images, 2, &library);
  require((status == QM_OK) == (library != nullptr));
  if (library)
    useAll(library);
  qm_library_destroy(library);
}

void asPackage(const std::string &package) {
  static const qm_cpu_symbol symbols[] = {{"probe_entry", nothing}};
  qm_embedded embedded = probe::embed(package);
  embedded.symbols = symbols;
  qm_library *library = nullptr;
  int status = qm_embedded_open(&embedded, &library);
  require((status == QM_OK) == (library != nullptr));
  if (library)
    useAll(library);
  qm_embedded_close(&embedded);
}

void asImage(const std::string &image) {
  qm::runtime::cuda::isCubin(image);
  qm::runtime::cuda::isSharedObject(image);
  if (qm::runtime::cuda::isPtx(image))
    qm::runtime::cuda::ptxTarget(image);
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  if (size == 0)
    return 0;
  std::string bytes(reinterpret_cast<const char *>(data + 1), size - 1);
  switch (data[0] % 4) {
  case 0:
    asManifest(bytes);
    break;
  case 1:
    asPackage(bytes);
    break;
  case 2: // a whole package, so that the manifest in it is reached
    asPackage(probe::makePackage(bytes, {probe::cubin(), probe::ptx()}));
    break;
  case 3:
    asImage(bytes);
    break;
  }
  return 0;
}
