//===- AbiOperators.cpp - operators and embedded libraries of qm.h --------===//

#include "runtime/AbiSupport.h"
#include "runtime/Dispatch.h"
#include "runtime/cpu/Launch.h"
#include "runtime/cuda/Target.h"

#include <atomic>
#include <mutex>

using namespace qm::runtime;

namespace {

int select(const Operator &op, const qm_value *arguments, size_t count,
           const Kernel *&kernel) {
  return guarded([&] { return selectKernel(op, arguments, count, kernel); });
}

std::atomic_ref<void *> stateOf(qm_embedded &embedded) {
  return std::atomic_ref<void *>(embedded.state);
}

/// Of all embedded libraries: making one is rare.
std::mutex &embeddedMutex() {
  static std::mutex mutex;
  return mutex;
}

/// The embedded library; made when first asked for.
int open(const char *function, qm_embedded *embedded, const Library *&library) {
  if (!embedded)
    return failNull(function, "embedded");
  library = static_cast<const Library *>(
      stateOf(*embedded).load(std::memory_order_acquire));
  if (library)
    return QM_OK;
  std::lock_guard<std::mutex> lock(embeddedMutex());
  library = static_cast<const Library *>(
      stateOf(*embedded).load(std::memory_order_relaxed));
  if (library)
    return QM_OK;
  return guarded([&] {
    auto made = std::make_unique<Library>();
    if (int status = openEmbedded(*embedded, *made))
      return status;
    made->isEmbedded = true;
    library = made.get();
    stateOf(*embedded).store(made.release(), std::memory_order_release);
    return static_cast<int>(QM_OK);
  });
}

bool runsOn(const Kernel &kernel, DLDevice device) {
  if (device.device_type == kDLCPU)
    return cpu::findVariant(kernel);
  const cuda::Driver *driver = nullptr;
  const cuda::DeviceInfo *info = nullptr;
  return cuda::getDevice(device.device_id, driver, info) == QM_OK &&
         cuda::findVariant(kernel, *info);
}

} // namespace

size_t qm_library_operator_count(const qm_library *handle) {
  auto *library =
      static_cast<Library *>(findHandle(HandleKind::Library, handle));
  return library ? library->operators.size() : 0;
}

int qm_library_operator_at(const qm_library *handle, size_t index,
                           const qm_operator **op) {
  const Library *library = nullptr;
  if (int status = resolve("qm_library_operator_at", handle, library))
    return status;
  if (!op)
    return failNull("qm_library_operator_at", "op");
  if (index >= library->operators.size())
    return failIndex("qm_library_operator_at", index,
                     library->operators.size());
  *op = library->operators[index].get();
  return QM_OK;
}

int qm_library_find_operator(const qm_library *handle, const char *name,
                             const qm_operator **op) {
  const Library *library = nullptr;
  if (int status = resolve("qm_library_find_operator", handle, library))
    return status;
  if (!name)
    return failNull("qm_library_find_operator", "name");
  if (!op)
    return failNull("qm_library_find_operator", "op");
  for (const Operator &candidate : library->operators)
    if (candidate.name == name) {
      *op = candidate.get();
      return QM_OK;
    }
  return fail(QM_ERROR_UNKNOWN_KERNEL,
              "there is no operator '%s' among %zu (the first is %s)\nhelp: "
              "list them with qm_library_operator_at",
              name, library->operators.size(),
              library->operators.empty() ? "none"
                                         : library->operators[0].name.c_str());
}

int qm_library_manifest(const qm_library *handle, const char **text) {
  const Library *library = nullptr;
  if (int status = resolve("qm_library_manifest", handle, library))
    return status;
  if (!text)
    return failNull("qm_library_manifest", "text");
  *text = library->manifest.c_str();
  return QM_OK;
}

int qm_operator_get_info(const qm_operator *handle, qm_operator_info *info) {
  const Operator *op = nullptr;
  if (int status = resolve("qm_operator_get_info", handle, op))
    return status;
  return give("qm_operator_get_info", info,
              qm_operator_info{0, op->name.c_str(), op->kernels.size()});
}

int qm_operator_kernel_at(const qm_operator *handle, size_t index,
                          const qm_kernel **kernel) {
  const Operator *op = nullptr;
  if (int status = resolve("qm_operator_kernel_at", handle, op))
    return status;
  if (!kernel)
    return failNull("qm_operator_kernel_at", "kernel");
  if (index >= op->kernels.size())
    return failIndex("qm_operator_kernel_at", index, op->kernels.size());
  *kernel = op->kernels[index]->get();
  return QM_OK;
}

int qm_operator_select(const qm_operator *handle, const qm_value *arguments,
                       size_t count, const qm_kernel **kernel) {
  const Operator *op = nullptr;
  const Kernel *chosen = nullptr;
  if (int status = resolve("qm_operator_select", handle, op))
    return status;
  if (!kernel)
    return failNull("qm_operator_select", "kernel");
  if (int status = select(*op, arguments, count, chosen))
    return status;
  *kernel = chosen->get();
  return QM_OK;
}

int qm_operator_launch(const qm_operator *handle, const qm_value *arguments,
                       size_t count, const qm_launch_options *options) {
  const Operator *op = nullptr;
  const Kernel *kernel = nullptr;
  if (int status = resolve("qm_operator_launch", handle, op))
    return status;
  if (int status = select(*op, arguments, count, kernel))
    return status;
  return launch(*kernel, arguments, count, options);
}

int qm_operator_prepare(const qm_operator *handle, DLDevice device) {
  const Operator *op = nullptr;
  if (int status = resolve("qm_operator_prepare", handle, op))
    return status;
  if (int status = checkDeviceType("qm_operator_prepare", device))
    return status;
  return guarded([&] {
    bool any = false;
    for (const Kernel *kernel : op->kernels) {
      if (!runsOn(*kernel, device))
        continue;
      any = true;
      if (int status = prepare(*kernel, device))
        return status;
    }
    // None: the first says why.
    return any ? static_cast<int>(QM_OK)
               : prepare(*op->kernels.front(), device);
  });
}

int qm_operator_workspace(const qm_operator *handle, const qm_value *arguments,
                          size_t count, size_t *bytes) {
  const Operator *op = nullptr;
  const Kernel *kernel = nullptr;
  if (int status = resolve("qm_operator_workspace", handle, op))
    return status;
  if (!bytes)
    return failNull("qm_operator_workspace", "bytes");
  if (int status = select(*op, arguments, count, kernel))
    return status;
  if (int status = qm_kernel_check(kernel->get(), arguments, count))
    return status;
  *bytes = 0;
  return QM_OK;
}

int qm_embedded_open(qm_embedded *embedded, qm_library **library) {
  if (!library)
    return failNull("qm_embedded_open", "library");
  *library = nullptr;
  const Library *opened = nullptr;
  if (int status = open("qm_embedded_open", embedded, opened))
    return status;
  *library = opened->get();
  return QM_OK;
}

int qm_embedded_close(qm_embedded *embedded) {
  if (!embedded)
    return failNull("qm_embedded_close", "embedded");
  std::lock_guard<std::mutex> lock(embeddedMutex());
  delete static_cast<Library *>(stateOf(*embedded).exchange(nullptr));
  return QM_OK;
}

int qm_embedded_launch(qm_embedded *embedded, size_t index,
                       const qm_value *arguments, size_t count,
                       const qm_launch_options *options) {
  const Library *library = nullptr;
  const Kernel *kernel = nullptr;
  if (int status = open("qm_embedded_launch", embedded, library))
    return status;
  if (index >= library->operators.size())
    return failIndex("qm_embedded_launch", index, library->operators.size());
  if (int status = select(library->operators[index], arguments, count, kernel))
    return status;
  return launch(*kernel, arguments, count, options);
}
