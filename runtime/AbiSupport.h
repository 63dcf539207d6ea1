//===- AbiSupport.h - what the functions of qm.h share ----------*- C++ -*-===//
//
// Handles to objects, structs of callers of any version, exceptions to
// statuses.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "runtime/Error.h"
#include "runtime/Library.h"

#include <algorithm>
#include <cstring>
#include <memory>

namespace qm::runtime {

int failNull(const char *function, const char *parameter);
int failIndex(const char *function, size_t index, size_t count);
int failHandle(const char *function, const char *kind);
int checkDeviceType(const char *function, DLDevice device);

/// The object of a handle.
template <typename Object>
int resolveAs(HandleKind kind, const char *name, const char *function,
              const void *handle, const Object *&object) {
  if (!handle)
    return failNull(function, name);
  object = static_cast<const Object *>(findHandle(kind, handle));
  return object ? QM_OK : failHandle(function, name);
}
inline int resolve(const char *function, const qm_library *handle,
                   const Library *&library) {
  return resolveAs(HandleKind::Library, "library", function, handle, library);
}
inline int resolve(const char *function, const qm_operator *handle,
                   const Operator *&op) {
  return resolveAs(HandleKind::Operator, "op", function, handle, op);
}
inline int resolve(const char *function, const qm_kernel *handle,
                   const Kernel *&kernel) {
  return resolveAs(HandleKind::Kernel, "kernel", function, handle, kernel);
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

/// Called in a handler of any exception: the failure that it is.
int failException();

/// Work that may load something: exceptions become statuses.
template <typename Work>
int guarded(Work work) {
  try {
    return work();
  } catch (...) {
    return failException();
  }
}

/// Makes a library with `fill`; nothing is left behind if that fails.
template <typename Fill>
int makeLibrary(qm_library **out, Fill fill) {
  *out = nullptr;
  return guarded([&] {
    auto library = std::make_unique<Library>();
    int status = fill(*library);
    if (status == QM_OK)
      *out = library.release()->get();
    return status;
  });
}

/// Loads what a launch on the device would use.
int prepare(const Kernel &kernel, DLDevice device);

/// qm_launch on a kernel.
int launch(const Kernel &kernel, const qm_value *arguments, size_t count,
           const qm_launch_options *options);

} // namespace qm::runtime
