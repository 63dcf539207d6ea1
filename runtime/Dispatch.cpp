//===- Dispatch.cpp - which kernel of an operator a call runs -------------===//

#include "runtime/Dispatch.h"
#include "runtime/CheckTensor.h"
#include "runtime/Error.h"
#include "runtime/PackArguments.h"
#include "runtime/Verbose.h"
#include "runtime/cpu/Launch.h"
#include "runtime/cuda/Target.h"

using namespace qm::runtime;

namespace {

using std::to_string;

/// Why a kernel does not fit a call; nothing is formatted until it is printed.
struct Mismatch {
  enum Kind : uint8_t { None, DType, Extent, Condition, Device } kind = None;
  int argument = 0;
  int at = 0; ///< dimension, or quantity
  int64_t has = 0;

  explicit operator bool() const { return kind != None; }
};

/// An argument of a readable call, without the layout.
View viewOf(const Signature &signature, const qm_value *values, int argument) {
  return {&signature.arguments[argument], values[argument].as.tensor, nullptr,
          nullptr, signature.isPacked()};
}

int64_t extentOf(const View &view, int dimension) {
  int from = view.dimensionOf(dimension);
  return from < 0 ? 1 : view.tensor->shape[from];
}

int64_t quantityOf(const Signature &signature, const qm_value *values,
                   Quantity quantity) {
  View q = viewOf(signature, values, signature.q);
  View k = viewOf(signature, values, signature.k);
  switch (quantity) {
  case Quantity::Batch:
    return extentOf(q, 0);
  case Quantity::Heads:
    return extentOf(q, 1);
  case Quantity::KvHeads:
    return extentOf(k, 1);
  case Quantity::Groups:
    return extentOf(k, 1) ? extentOf(q, 1) / extentOf(k, 1) : 0;
  case Quantity::Query:
    return extentOf(q, 2);
  case Quantity::Key:
    return extentOf(k, 2);
  }
  return 0;
}

Mismatch compare(const Kernel &kernel, const qm_value *values) {
  const Signature &signature = kernel.signature;
  for (int i = 0; i < static_cast<int>(signature.arguments.size()); ++i) {
    const Argument &argument = signature.arguments[i];
    if (argument.isScalar())
      continue;
    View view = viewOf(signature, values, i);
    if (!matches(view.tensor->dtype, argument.dtype))
      return {Mismatch::DType, i};
    for (int d = 0; d < argument.rank(); ++d)
      if (argument.shape[d] >= 0 && argument.shape[d] != extentOf(view, d))
        return {Mismatch::Extent, i, d, extentOf(view, d)};
  }
  for (int i = 0; i < quantityCount; ++i) {
    int64_t has = quantityOf(signature, values, static_cast<Quantity>(i));
    if (has < kernel.when.least[i] || has > kernel.when.most[i])
      return {Mismatch::Condition, 0, i, has};
  }
  return {};
}

bool runsOn(const Kernel &kernel, DLDevice device, const Variant *&variant) {
  if (device.device_type == kDLCPU)
    return (variant = cpu::findVariant(kernel));
  const cuda::Driver *driver = nullptr;
  const cuda::DeviceInfo *info = nullptr;
  return cuda::getDevice(device.device_id, driver, info) == QM_OK &&
         (variant = cuda::findVariant(kernel, *info));
}

std::string bounds(const Conditions &when, int quantity) {
  int64_t least = when.least[quantity], most = when.most[quantity];
  std::string text = quantityName(static_cast<Quantity>(quantity));
  if (most == INT64_MAX)
    return text + " from " + to_string(least);
  return text + " " + to_string(least) + " to " + to_string(most);
}

std::string describe(const Mismatch &mismatch, const Kernel &kernel) {
  const auto &arguments = kernel.signature.arguments;
  const Argument &argument = arguments[mismatch.argument];
  switch (mismatch.kind) {
  case Mismatch::None:
    return "fits";
  case Mismatch::DType:
    return "'" + argument.name + "' is not " + dataTypeName(argument.dtype);
  case Mismatch::Extent:
    return "extent " + to_string(mismatch.at) + " of '" + argument.name +
           "' is " + to_string(mismatch.has) + ", not " +
           to_string(argument.shape[mismatch.at]);
  case Mismatch::Condition:
    return "it is for " + bounds(kernel.when, mismatch.at) + ", not " +
           to_string(mismatch.has);
  case Mismatch::Device:
    return "it has no image for this device";
  }
  return "";
}

/// "gemma2_bf16_d64 (q bf16 [?, 32, ?, 64], k bf16 [?, 8, ?, 64]; sm_80, cpu)".
std::string describe(const Kernel &kernel) {
  const Signature &signature = kernel.signature;
  std::string text = signature.kernel + " (";
  for (int position : {signature.q, signature.k, signature.v}) {
    const Argument &argument = signature.arguments[position];
    text += argument.name + " " + dataTypeName(argument.dtype) + " [";
    for (int d = 0; d < argument.rank(); ++d)
      text += (d ? ", " : "") + (argument.shape[d] < 0
                                     ? std::string("?")
                                     : to_string(argument.shape[d]));
    text += position == signature.v ? "]" : "], ";
  }
  for (int i = 0; i < quantityCount; ++i)
    if (kernel.when.least[i] != 0 || kernel.when.most[i] != INT64_MAX)
      text += "; " + bounds(kernel.when, i);
  const char *separator = "; ";
  for (const Variant &variant : kernel.variants) {
    text += separator + variant.entry.target + " " + formatName(variant.format);
    separator = ", ";
  }
  return text + ")";
}

std::string nameOf(DLDevice device) {
  return device.device_type == kDLCPU
             ? "the CPU"
             : "CUDA device " + to_string(device.device_id);
}

int failNoKernel(const Operator &op, const qm_value *values, DLDevice device) {
  // A driver that cannot be used is the better explanation.
  if (device.device_type != kDLCPU) {
    const cuda::Driver *driver = nullptr;
    const cuda::DeviceInfo *info = nullptr;
    if (int status = cuda::getDevice(device.device_id, driver, info))
      return status;
  }
  constexpr size_t listed = 24;
  std::string list;
  for (size_t i = 0; i < op.kernels.size() && i < listed; ++i) {
    const Kernel &kernel = *op.kernels[i];
    Mismatch mismatch = compare(kernel, values);
    if (!mismatch)
      mismatch.kind = Mismatch::Device;
    list += "\n  " + describe(kernel) + ": " + describe(mismatch, kernel);
  }
  if (op.kernels.size() > listed)
    list += "\n  and " + to_string(op.kernels.size() - listed) + " more";
  return fail(QM_ERROR_NO_KERNEL,
              "no kernel of operator '%s' takes this call on %s; it has%s\n"
              "help: convert the tensors, or build the library with the "
              "--dtype, --head-dim or --arch of the call",
              op.name.c_str(), nameOf(device).c_str(), list.c_str());
}

/// Whether the values can be looked at: as many as there are arguments, each of
/// its kind, tensors of the right rank with a shape.
bool areReadable(const Signature &signature, const qm_value *values,
                 size_t count) {
  if (count != signature.arguments.size() || !values)
    return false;
  for (size_t i = 0; i < count; ++i) {
    const Argument &argument = signature.arguments[i];
    if (argument.isScalar())
      continue;
    if (values[i].kind != QM_TENSOR || !values[i].as.tensor)
      return false;
    View view = viewOf(signature, values, static_cast<int>(i));
    if ((view.tensor->ndim != argument.rank() && !view.isFlat()) ||
        (view.tensor->ndim > 0 && !view.tensor->shape))
      return false;
  }
  return true;
}

void announce(const Operator &op, const Kernel &kernel, const Variant &variant,
              const qm_value *values, DLDevice device) {
  if (!isNews(variant, device))
    return;
  std::string why;
  for (const Kernel *other : op.kernels) {
    if (other == &kernel)
      break;
    Mismatch mismatch = compare(*other, values);
    if (!mismatch)
      mismatch.kind = Mismatch::Device;
    why += "\n  not " + other->signature.kernel + ": " +
           describe(mismatch, *other);
  }
  say("%s runs %s, its %s for %s, on %s%s", op.name.c_str(),
      describe(kernel).c_str(), formatName(variant.format),
      variant.entry.target.c_str(), nameOf(device).c_str(), why.c_str());
}

} // namespace

int qm::runtime::selectVariant(const Kernel &kernel, DLDevice device,
                               const Variant *&variant) {
  if (device.device_type == kDLCPU)
    return cpu::selectVariant(kernel, variant);
  const cuda::Driver *driver = nullptr;
  const cuda::DeviceInfo *info = nullptr;
  int status = cuda::getDevice(device.device_id, driver, info);
  return status == QM_OK ? cuda::selectVariant(kernel, *info, variant) : status;
}

int qm::runtime::selectKernel(const Operator &op, const qm_value *values,
                              size_t count, const Kernel *&kernel) {
  // The kernels of an operator differ in types and extents, not in what their
  // arguments are: the first can tell what is wrong with any call.
  const Signature &signature = op.kernels.front()->signature;
  DLDevice device = {kDLCPU, 0};
  if (!areReadable(signature, values, count)) {
    PackedCall call;
    return packArguments(signature, values, count, call);
  }
  if (int status = chooseDevice(signature, values, device))
    return status;
  for (const Kernel *candidate : op.kernels) {
    const Variant *variant = nullptr;
    if (compare(*candidate, values) || !runsOn(*candidate, device, variant))
      continue;
    kernel = candidate;
    if (isVerbose())
      announce(op, *candidate, *variant, values, device);
    return QM_OK;
  }
  return failNoKernel(op, values, device);
}
