//===- Abi.cpp - the functions of qm.h ------------------------------------===//
//
// Checks what a caller hands over, keeps C++ exceptions inside, and calls the
// part that does the work.
//
//===----------------------------------------------------------------------===//

#include "runtime/Error.h"
#include "runtime/Library.h"
#include "runtime/PackArguments.h"
#include "runtime/cpu/Launch.h"
#include "runtime/cuda/Launch.h"
#include "runtime/cuda/Target.h"

#include <algorithm>
#include <cstring>
#include <exception>
#include <memory>
#include <new>

using namespace qm::runtime;

namespace {

int failNull(const char *function, const char *parameter) {
  return fail(QM_ERROR_NULL_ARGUMENT,
              "%s: %s is null\nhelp: pass a valid pointer", function,
              parameter);
}

int failIndex(const char *function, size_t index, size_t count) {
  return fail(QM_ERROR_INDEX_RANGE,
              "%s: index %zu is past the last of %zu\nhelp: ask for the count "
              "first",
              function, index, count);
}

/// Fills a caller's struct of `Info` as far as that caller knows it.
template <typename Info>
int give(const char *function, Info *out, Info info) {
  if (!out)
    return failNull(function, "info");
  if (out->size < sizeof(size_t) || out->size > 4096)
    return fail(QM_ERROR_STRUCT_SIZE,
                "%s: info->size is %zu\nhelp: set it to sizeof the struct "
                "(%zu bytes here)",
                function, out->size, sizeof(Info));
  info.size = out->size;
  memcpy(out, &info, std::min(out->size, sizeof(Info)));
  return QM_OK;
}

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

/// Makes a library with `fill`; nothing is left behind if that fails.
template <typename Fill>
int makeLibrary(qm_library **out, Fill fill) {
  *out = nullptr;
  try {
    auto library = std::make_unique<qm_library>();
    int status = fill(*library);
    if (status == QM_OK)
      *out = library.release();
    return status;
  } catch (const std::bad_alloc &) {
    return fail(QM_ERROR_OUT_OF_MEMORY, "not enough host memory for a "
                                        "library\nhelp: free some");
  } catch (const std::exception &error) {
    return fail(QM_ERROR_INTERNAL, "%s\nhelp: please report this",
                error.what());
  }
}

/// As above for work on a library that may load something.
template <typename Work>
int guarded(Work work) {
  try {
    return work();
  } catch (const std::bad_alloc &) {
    return fail(QM_ERROR_OUT_OF_MEMORY,
                "not enough host memory\nhelp: free some");
  } catch (const std::exception &error) {
    return fail(QM_ERROR_INTERNAL, "%s\nhelp: please report this",
                error.what());
  }
}

const char *formatName(ImageFormat format) {
  return format == ImageFormat::Cubin ? "cubin"
         : format == ImageFormat::Ptx ? "ptx"
                                      : "cpu";
}

int select(const qm_kernel &kernel, DLDevice device, const Variant *&variant) {
  if (device.device_type == kDLCPU)
    return cpu::selectVariant(kernel, variant);
  const cuda::Driver *driver = nullptr;
  const cuda::DeviceInfo *info = nullptr;
  int status = cuda::getDevice(device.device_id, driver, info);
  return status == QM_OK ? cuda::selectVariant(kernel, *info, variant) : status;
}

int checkDeviceType(const char *function, DLDevice device) {
  if (device.device_type == kDLCPU || device.device_type == kDLCUDA)
    return QM_OK;
  return fail(QM_ERROR_TENSOR_DEVICE,
              "%s: DLPack device type %d is neither CPU (%d) nor CUDA (%d)\n"
              "help: kernels run on these",
              function, static_cast<int>(device.device_type), kDLCPU, kDLCUDA);
}

} // namespace

int qm_abi_version(void) { return QM_ABI_VERSION; }

const char *qm_last_error(void) { return lastError(); }

int qm_library_load(const char *manifest_path, qm_library **library) {
  if (!manifest_path)
    return failNull("qm_library_load", "manifest_path");
  if (!library)
    return failNull("qm_library_load", "library");
  return makeLibrary(library, [&](qm_library &made) {
    return loadLibrary(manifest_path, made);
  });
}

int qm_library_create(const char *manifest, size_t bytes,
                      const qm_image *images, size_t image_count,
                      qm_library **library) {
  if (!manifest)
    return failNull("qm_library_create", "manifest");
  if (!library)
    return failNull("qm_library_create", "library");
  return makeLibrary(library, [&](qm_library &made) {
    return createLibrary({manifest, bytes}, images, image_count, made);
  });
}

void qm_library_destroy(qm_library *library) { delete library; }

size_t qm_library_kernel_count(const qm_library *library) {
  return library ? library->kernels.size() : 0;
}

int qm_library_kernel_at(const qm_library *library, size_t index,
                         const qm_kernel **kernel) {
  if (!library)
    return failNull("qm_library_kernel_at", "library");
  if (!kernel)
    return failNull("qm_library_kernel_at", "kernel");
  if (index >= library->kernels.size())
    return failIndex("qm_library_kernel_at", index, library->kernels.size());
  *kernel = &library->kernels[index];
  return QM_OK;
}

int qm_library_find(const qm_library *library, const char *name,
                    const qm_kernel **kernel) {
  if (!library)
    return failNull("qm_library_find", "library");
  if (!name)
    return failNull("qm_library_find", "name");
  if (!kernel)
    return failNull("qm_library_find", "kernel");
  for (const qm_kernel &candidate : library->kernels)
    if (candidate.signature.kernel == name) {
      *kernel = &candidate;
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

int qm_kernel_get_info(const qm_kernel *kernel, qm_kernel_info *info) {
  if (!kernel)
    return failNull("qm_kernel_get_info", "kernel");
  return give("qm_kernel_get_info", info,
              qm_kernel_info{0, kernel->signature.kernel.c_str(),
                             kernel->signature.arguments.size(),
                             kernel->variants.size()});
}

int qm_kernel_get_argument(const qm_kernel *kernel, size_t index,
                           qm_argument_info *info) {
  if (!kernel)
    return failNull("qm_kernel_get_argument", "kernel");
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

int qm_kernel_get_variant(const qm_kernel *kernel, size_t index,
                          qm_variant_info *info) {
  if (!kernel)
    return failNull("qm_kernel_get_variant", "kernel");
  if (index >= kernel->variants.size())
    return failIndex("qm_kernel_get_variant", index, kernel->variants.size());
  const Variant &variant = kernel->variants[index];
  const ManifestEntry &entry = variant.entry;
  return give("qm_kernel_get_variant", info,
              qm_variant_info{0, entry.target.c_str(), entry.image.c_str(),
                              formatName(variant.format), entry.tileM,
                              entry.tileN, entry.threads, entry.sharedBytes});
}

int qm_kernel_select(const qm_kernel *kernel, DLDevice device,
                     size_t *variant) {
  if (!kernel)
    return failNull("qm_kernel_select", "kernel");
  if (!variant)
    return failNull("qm_kernel_select", "variant");
  if (int status = checkDeviceType("qm_kernel_select", device))
    return status;
  const Variant *chosen = nullptr;
  int status = guarded([&] { return select(*kernel, device, chosen); });
  for (size_t i = 0; status == QM_OK && i < kernel->variants.size(); ++i)
    if (&kernel->variants[i] == chosen)
      *variant = i;
  return status;
}

int qm_kernel_prepare(const qm_kernel *kernel, DLDevice device) {
  if (!kernel)
    return failNull("qm_kernel_prepare", "kernel");
  if (int status = checkDeviceType("qm_kernel_prepare", device))
    return status;
  return guarded([&] {
    return device.device_type == kDLCPU
               ? cpu::prepare(*kernel)
               : cuda::prepare(*kernel, device.device_id);
  });
}

int qm_kernel_check(const qm_kernel *kernel, const qm_value *arguments,
                    size_t count) {
  if (!kernel)
    return failNull("qm_kernel_check", "kernel");
  PackedCall call;
  return packArguments(kernel->signature, arguments, count, call);
}

int qm_launch(const qm_kernel *kernel, const qm_value *arguments, size_t count,
              const qm_launch_options *options) {
  if (!kernel)
    return failNull("qm_launch", "kernel");
  qm_launch_options chosen;
  if (int status = readOptions(options, chosen))
    return status;
  PackedCall call;
  if (int status = packArguments(kernel->signature, arguments, count, call))
    return status;
  if (call.tiles(1) == 0)
    return QM_OK; // no query, no output
  return guarded([&] {
    return call.device.device_type == kDLCPU
               ? cpu::launch(*kernel, call, chosen.threads)
               : cuda::launch(*kernel, call, chosen.stream);
  });
}
