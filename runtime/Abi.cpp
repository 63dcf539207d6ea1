//===- Abi.cpp - libraries, kernels and launches of qm.h ------------------===//
//
// Checks what a caller hands over, keeps C++ exceptions inside, and calls the
// part that does the work.
//
//===----------------------------------------------------------------------===//

#include "runtime/AbiSupport.h"
#include "runtime/Dispatch.h"
#include "runtime/Error.h"
#include "runtime/Library.h"
#include "runtime/PackArguments.h"
#include "runtime/cpu/Launch.h"
#include "runtime/cuda/Launch.h"

#include <algorithm>
#include <cstring>

using namespace qm::runtime;

namespace {

int readOptions(const qm_launch_options *given, qm_launch_options &options) {
  options = {sizeof options, nullptr, 0, 0};
  if (!given)
    return QM_OK;
  // A larger struct is a newer caller's; what it adds must be zero, or it asks
  // for something this runtime does not know.
  size_t size = given->size;
  bool valid = size >= sizeof(size_t) && size <= 4096;
  const char *bytes = reinterpret_cast<const char *>(given);
  for (size_t i = sizeof options; valid && i < size; ++i)
    valid = bytes[i] == 0;
  if (valid)
    memcpy(&options, given, std::min(size, sizeof options));
  if (valid && options.flags == 0)
    return QM_OK;
  return fail(
      QM_ERROR_STRUCT_SIZE,
      "qm_launch: options->size is %zu and flags %u; this runtime knows "
      "%zu bytes and no flag\nhelp: set size to sizeof "
      "(qm_launch_options) and flags to 0",
      size, options.flags, sizeof options);
}

} // namespace

int qm_abi_version(void) { return QM_ABI_VERSION; }

const char *qm_last_error(void) { return lastError(); }

int qm_library_load(const char *path, qm_library **library) {
  if (!path)
    return failNull("qm_library_load", "path");
  if (!library)
    return failNull("qm_library_load", "library");
  return makeLibrary(library,
                     [&](Library &made) { return loadLibrary(path, made); });
}

int qm_library_create(const char *manifest, size_t bytes,
                      const qm_image *images, size_t image_count,
                      qm_library **library) {
  if (!manifest)
    return failNull("qm_library_create", "manifest");
  if (!library)
    return failNull("qm_library_create", "library");
  return makeLibrary(library, [&](Library &made) {
    return createLibrary({manifest, bytes}, images, image_count, made);
  });
}

void qm_library_destroy(qm_library *handle) {
  auto *library =
      static_cast<Library *>(findHandle(HandleKind::Library, handle));
  if (library && !library->isEmbedded)
    delete library;
}

size_t qm_library_kernel_count(const qm_library *handle) {
  auto *library =
      static_cast<Library *>(findHandle(HandleKind::Library, handle));
  return library ? library->kernels.size() : 0;
}

int qm_library_kernel_at(const qm_library *handle, size_t index,
                         const qm_kernel **kernel) {
  const Library *library = nullptr;
  if (int status = resolve("qm_library_kernel_at", handle, library))
    return status;
  if (!kernel)
    return failNull("qm_library_kernel_at", "kernel");
  if (index >= library->kernels.size())
    return failIndex("qm_library_kernel_at", index, library->kernels.size());
  *kernel = library->kernels[index].get();
  return QM_OK;
}

int qm_library_find(const qm_library *handle, const char *name,
                    const qm_kernel **kernel) {
  const Library *library = nullptr;
  if (int status = resolve("qm_library_find", handle, library))
    return status;
  if (!name)
    return failNull("qm_library_find", "name");
  if (!kernel)
    return failNull("qm_library_find", "kernel");
  for (const Kernel &candidate : library->kernels)
    if (candidate.signature.kernel == name) {
      *kernel = candidate.get();
      return QM_OK;
    }
  const char *first = library->kernels.empty()
                          ? "none"
                          : library->kernels[0].signature.kernel.c_str();
  return fail(QM_ERROR_UNKNOWN_KERNEL,
              "there is no kernel '%s' among %zu (the first is %s)\nhelp: list "
              "them with qm_library_kernel_at",
              name, library->kernels.size(), first);
}

int qm_kernel_get_info(const qm_kernel *handle, qm_kernel_info *info) {
  const Kernel *kernel = nullptr;
  if (int status = resolve("qm_kernel_get_info", handle, kernel))
    return status;
  return give("qm_kernel_get_info", info,
              qm_kernel_info{0, kernel->signature.kernel.c_str(),
                             kernel->signature.arguments.size(),
                             kernel->variants.size()});
}

int qm_kernel_get_argument(const qm_kernel *handle, size_t index,
                           qm_argument_info *info) {
  const Kernel *kernel = nullptr;
  if (int status = resolve("qm_kernel_get_argument", handle, kernel))
    return status;
  const auto &arguments = kernel->signature.arguments;
  if (index >= arguments.size())
    return failIndex("qm_kernel_get_argument", index, arguments.size());
  const Argument &argument = arguments[index];
  return give("qm_kernel_get_argument", info,
              qm_argument_info{
                  0, argument.name.c_str(), roleName(argument.role),
                  dataTypeName(argument.dtype), !argument.isScalar(),
                  argument.isOutput(), argument.rank(), argument.shape.data()});
}

int qm_kernel_get_variant(const qm_kernel *handle, size_t index,
                          qm_variant_info *info) {
  const Kernel *kernel = nullptr;
  if (int status = resolve("qm_kernel_get_variant", handle, kernel))
    return status;
  if (index >= kernel->variants.size())
    return failIndex("qm_kernel_get_variant", index, kernel->variants.size());
  const Variant &variant = kernel->variants[index];
  const ManifestEntry &entry = variant.entry;
  return give("qm_kernel_get_variant", info,
              qm_variant_info{0, entry.target.c_str(), entry.image.c_str(),
                              formatName(variant.format), entry.tileM,
                              entry.tileN, entry.threads, entry.sharedBytes});
}

int qm_kernel_select(const qm_kernel *handle, DLDevice device,
                     size_t *variant) {
  const Kernel *kernel = nullptr;
  if (int status = resolve("qm_kernel_select", handle, kernel))
    return status;
  if (!variant)
    return failNull("qm_kernel_select", "variant");
  if (int status = checkDeviceType("qm_kernel_select", device))
    return status;
  const Variant *chosen = nullptr;
  int status = guarded([&] { return selectVariant(*kernel, device, chosen); });
  for (size_t i = 0; status == QM_OK && i < kernel->variants.size(); ++i)
    if (&kernel->variants[i] == chosen)
      *variant = i;
  return status;
}

int qm_kernel_prepare(const qm_kernel *handle, DLDevice device) {
  const Kernel *kernel = nullptr;
  if (int status = resolve("qm_kernel_prepare", handle, kernel))
    return status;
  if (int status = checkDeviceType("qm_kernel_prepare", device))
    return status;
  return guarded([&] { return prepare(*kernel, device); });
}

int qm_kernel_check(const qm_kernel *handle, const qm_value *arguments,
                    size_t count) {
  const Kernel *kernel = nullptr;
  if (int status = resolve("qm_kernel_check", handle, kernel))
    return status;
  PackedCall call;
  return packArguments(kernel->signature, arguments, count, call);
}

int qm::runtime::prepare(const Kernel &kernel, DLDevice device) {
  return device.device_type == kDLCPU ? cpu::prepare(kernel)
                                      : cuda::prepare(kernel, device.device_id);
}

int qm::runtime::launch(const Kernel &kernel, const qm_value *arguments,
                        size_t count, const qm_launch_options *options) {
  qm_launch_options chosen;
  if (int status = readOptions(options, chosen))
    return status;
  PackedCall call;
  const Signature &signature = kernel.signature;
  if (!kernel.calls.get(signature, arguments, count, call)) {
    if (int status = packArguments(signature, arguments, count, call))
      return status;
    // On the CPU the checks look into tensors, too: at the lengths.
    if (call.device.device_type == kDLCUDA)
      kernel.calls.put(signature, arguments, count, call);
  }
  if (call.tiles(1) == 0)
    return QM_OK; // no query, no output
  return guarded([&] {
    return call.device.device_type == kDLCPU
               ? cpu::launch(kernel, call, chosen.threads)
               : cuda::launch(kernel, call, chosen.stream);
  });
}

int qm_launch(const qm_kernel *handle, const qm_value *arguments, size_t count,
              const qm_launch_options *options) {
  const Kernel *kernel = nullptr;
  if (int status = resolve("qm_launch", handle, kernel))
    return status;
  return launch(*kernel, arguments, count, options);
}
