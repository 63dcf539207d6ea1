//===- qm.hpp - run compiled attention kernels: C++ wrapper -----*- C++ -*-===//
//
// RAII and exceptions over qm.h; C++17, header only. A Kernel is a plain
// pointer into its Library, which must outlive it.
//
//   qm::Library library("gemma2.json");
//   qm::Kernel kernel = library.kernel("gemma2");
//   kernel.launch({qm_tensor(&q), qm_tensor(&k), qm_tensor(&v), qm_i32(4096),
//                  qm_tensor(&o)}, stream);
//
//===----------------------------------------------------------------------===//
#pragma once

#include "qm.h"

#include <initializer_list>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace qm {

/// A failed call: what() is qm_last_error()'s text, "QM0516: ...".
class RuntimeError : public std::runtime_error {
public:
  explicit RuntimeError(int status)
      : std::runtime_error(qm_last_error()), code(status) {}

  /// A qm_status.
  int status() const noexcept { return code; }

private:
  int code;
};

/// Throws unless `status` is QM_OK.
inline void throwIfFailed(int status) {
  if (status != QM_OK)
    throw RuntimeError(status);
}

/// A DLTensor together with its shape and strides; owns no data. Strides are in
/// elements; none means compact row-major.
class Tensor {
public:
  Tensor(void *data, DLDataType dtype, std::vector<int64_t> extents,
         DLDevice device = {kDLCPU, 0}, std::vector<int64_t> steps = {})
      : shape(std::move(extents)), strides(std::move(steps)) {
    if (!strides.empty() && strides.size() != shape.size())
      throw std::invalid_argument("qm::Tensor: as many strides as extents");
    tensor.data = data;
    tensor.device = device;
    tensor.ndim = static_cast<int>(shape.size());
    tensor.dtype = dtype;
    tensor.shape = shape.data();
    tensor.strides = strides.empty() ? nullptr : strides.data();
    tensor.byte_offset = 0;
  }
  // The DLTensor points into the vectors.
  Tensor(const Tensor &) = delete;
  Tensor &operator=(const Tensor &) = delete;

  const DLTensor &dl() const { return tensor; }
  operator qm_value() const { return qm_tensor(&tensor); }

private:
  std::vector<int64_t> shape, strides;
  DLTensor tensor{};
};

class Kernel {
public:
  explicit Kernel(const qm_kernel *kernel) : handle(kernel) {}

  const qm_kernel *get() const { return handle; }

  qm_kernel_info info() const {
    qm_kernel_info info{sizeof info, nullptr, 0, 0};
    throwIfFailed(qm_kernel_get_info(handle, &info));
    return info;
  }
  std::string name() const { return info().name; }

  qm_argument_info argument(size_t index) const {
    qm_argument_info info{};
    info.size = sizeof info;
    throwIfFailed(qm_kernel_get_argument(handle, index, &info));
    return info;
  }

  qm_variant_info variant(size_t index) const {
    qm_variant_info info{};
    info.size = sizeof info;
    throwIfFailed(qm_kernel_get_variant(handle, index, &info));
    return info;
  }

  /// The variant that runs on a device.
  size_t select(DLDevice device) const {
    size_t index = 0;
    throwIfFailed(qm_kernel_select(handle, device, &index));
    return index;
  }

  void prepare(DLDevice device) const {
    throwIfFailed(qm_kernel_prepare(handle, device));
  }

  void check(std::initializer_list<qm_value> arguments) const {
    throwIfFailed(qm_kernel_check(handle, arguments.begin(), arguments.size()));
  }

  /// See qm_launch. `threads` is for the CPU, 0 means every core.
  void launch(const qm_value *arguments, size_t count, void *stream = nullptr,
              uint32_t threads = 0) const {
    qm_launch_options options{sizeof options, stream, threads, 0};
    throwIfFailed(qm_launch(handle, arguments, count, &options));
  }
  void launch(std::initializer_list<qm_value> arguments, void *stream = nullptr,
              uint32_t threads = 0) const {
    launch(arguments.begin(), arguments.size(), stream, threads);
  }

private:
  const qm_kernel *handle;
};

/// The kernels of one spec; a plain pointer into its Library.
class Operator {
public:
  explicit Operator(const qm_operator *op) : handle(op) {}

  const qm_operator *get() const { return handle; }

  qm_operator_info info() const {
    qm_operator_info info{sizeof info, nullptr, 0};
    throwIfFailed(qm_operator_get_info(handle, &info));
    return info;
  }
  std::string name() const { return info().name; }

  Kernel kernel(size_t index) const {
    const qm_kernel *kernel = nullptr;
    throwIfFailed(qm_operator_kernel_at(handle, index, &kernel));
    return Kernel(kernel);
  }

  /// The kernel that a call runs.
  Kernel select(std::initializer_list<qm_value> arguments) const {
    const qm_kernel *kernel = nullptr;
    throwIfFailed(qm_operator_select(handle, arguments.begin(),
                                     arguments.size(), &kernel));
    return Kernel(kernel);
  }

  void prepare(DLDevice device) const {
    throwIfFailed(qm_operator_prepare(handle, device));
  }

  /// See qm_launch. `threads` is for the CPU, 0 means every core.
  void launch(const qm_value *arguments, size_t count, void *stream = nullptr,
              uint32_t threads = 0) const {
    qm_launch_options options{sizeof options, stream, threads, 0};
    throwIfFailed(qm_operator_launch(handle, arguments, count, &options));
  }
  void launch(std::initializer_list<qm_value> arguments, void *stream = nullptr,
              uint32_t threads = 0) const {
    launch(arguments.begin(), arguments.size(), stream, threads);
  }

private:
  const qm_operator *handle;
};

class Library {
public:
  /// Loads libNAME.so, or a manifest file and the images beside it.
  explicit Library(const std::string &path) {
    qm_library *made = nullptr;
    throwIfFailed(qm_library_load(path.c_str(), &made));
    handle.reset(made);
  }

  /// The same from memory; see qm_library_create.
  Library(const std::string &manifest, const std::vector<qm_image> &images) {
    qm_library *made = nullptr;
    throwIfFailed(qm_library_create(manifest.data(), manifest.size(),
                                    images.data(), images.size(), &made));
    handle.reset(made);
  }

  size_t size() const { return qm_library_kernel_count(handle.get()); }

  Kernel operator[](size_t index) const {
    const qm_kernel *kernel = nullptr;
    throwIfFailed(qm_library_kernel_at(handle.get(), index, &kernel));
    return Kernel(kernel);
  }

  Kernel kernel(const std::string &name) const {
    const qm_kernel *kernel = nullptr;
    throwIfFailed(qm_library_find(handle.get(), name.c_str(), &kernel));
    return Kernel(kernel);
  }

  Operator op(const std::string &name) const {
    const qm_operator *op = nullptr;
    throwIfFailed(qm_library_find_operator(handle.get(), name.c_str(), &op));
    return Operator(op);
  }

private:
  struct Destroy {
    void operator()(qm_library *library) const { qm_library_destroy(library); }
  };
  std::unique_ptr<qm_library, Destroy> handle;
};

} // namespace qm
