//===- HostTensor.cpp - tensors in host memory ----------------------------===//
#include "lowering/reference/HostTensor.h"

#include "mlir/IR/BuiltinTypes.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/Sequence.h"
#include "llvm/ADT/bit.h"

#include <cmath>
#include <cstring>

using namespace qm;
using namespace qm::reference;

namespace {

/// Negative offsets are before `data`, where a stride is negative: in bytes
/// they must be signed as well.
template <typename T>
char *element(const TensorView &view, int64_t offset) {
  return static_cast<char *>(view.data) +
         offset * static_cast<int64_t>(sizeof(T));
}

template <typename T>
T read(const TensorView &view, int64_t offset) {
  T value;
  std::memcpy(&value, element<T>(view, offset), sizeof(T));
  return value;
}

template <typename T>
void write(const TensorView &view, int64_t offset, T value) {
  std::memcpy(element<T>(view, offset), &value, sizeof(T));
}

float fromBf16(uint16_t bits) {
  return llvm::bit_cast<float>(static_cast<uint32_t>(bits) << 16);
}

/// Round to nearest even; a NaN stays a NaN.
uint16_t toBf16(float value) {
  uint32_t bits = llvm::bit_cast<uint32_t>(value);
  if (std::isnan(value))
    return static_cast<uint16_t>((bits >> 16) | 0x40);
  return static_cast<uint16_t>((bits + 0x7FFF + ((bits >> 16) & 1)) >> 16);
}

} // namespace

bool qm::reference::isFloat(DType type) { return type <= DType::F64; }

std::optional<DType> qm::reference::dtypeOf(mlir::Type type) {
  if (type.isF16())
    return DType::F16;
  if (type.isBF16())
    return DType::BF16;
  if (type.isF32())
    return DType::F32;
  if (type.isF64())
    return DType::F64;
  auto integer = llvm::dyn_cast<mlir::IntegerType>(type);
  DType dtype;
  if (integer &&
      runtime::parseDataType("i" + std::to_string(integer.getWidth()), dtype))
    return dtype;
  return std::nullopt;
}

double qm::reference::roundTo(DType type, double value) {
  switch (type) {
  case DType::F16:
    return static_cast<double>(static_cast<_Float16>(value));
  case DType::BF16:
    return fromBf16(toBf16(static_cast<float>(value)));
  case DType::F32:
    return static_cast<float>(value);
  default:
    return value;
  }
}

int64_t TensorView::numElements() const {
  int64_t count = 1;
  for (int64_t extent : extents)
    count *= extent;
  return count;
}

int64_t TensorView::offset(llvm::ArrayRef<int64_t> index) const {
  int64_t sum = 0;
  for (auto [position, stride] : llvm::zip_equal(index, strides))
    sum += position * stride;
  return sum;
}

double qm::reference::loadFloat(const TensorView &view, int64_t offset) {
  switch (view.dtype) {
  case DType::F16:
    return static_cast<double>(read<_Float16>(view, offset));
  case DType::BF16:
    return fromBf16(read<uint16_t>(view, offset));
  case DType::F32:
    return read<float>(view, offset);
  case DType::F64:
    return read<double>(view, offset);
  default:
    return static_cast<double>(loadInteger(view, offset));
  }
}

int64_t qm::reference::loadInteger(const TensorView &view, int64_t offset) {
  switch (view.dtype) {
  case DType::I1:
    return read<uint8_t>(view, offset) ? -1 : 0;
  case DType::I8:
    return read<int8_t>(view, offset);
  case DType::I16:
    return read<int16_t>(view, offset);
  case DType::I32:
    return read<int32_t>(view, offset);
  case DType::I64:
    return read<int64_t>(view, offset);
  default:
    return static_cast<int64_t>(loadFloat(view, offset));
  }
}

void qm::reference::storeFloat(const TensorView &view, int64_t offset,
                               double value) {
  switch (view.dtype) {
  case DType::F16:
    return write(view, offset, static_cast<_Float16>(value));
  case DType::BF16:
    return write(view, offset, toBf16(static_cast<float>(value)));
  case DType::F32:
    return write(view, offset, static_cast<float>(value));
  case DType::F64:
    return write(view, offset, value);
  default:
    return storeInteger(view, offset, static_cast<int64_t>(value));
  }
}

void qm::reference::storeInteger(const TensorView &view, int64_t offset,
                                 int64_t value) {
  switch (view.dtype) {
  case DType::I1:
    return write<uint8_t>(view, offset, value != 0);
  case DType::I8:
    return write(view, offset, static_cast<int8_t>(value));
  case DType::I16:
    return write(view, offset, static_cast<int16_t>(value));
  case DType::I32:
    return write(view, offset, static_cast<int32_t>(value));
  case DType::I64:
    return write(view, offset, value);
  default:
    return storeFloat(view, offset, static_cast<double>(value));
  }
}

HostTensor::HostTensor(DType dtype, llvm::ArrayRef<int64_t> extents)
    : HostTensor(dtype, extents,
                 llvm::to_vector(llvm::seq<unsigned>(0, extents.size()))) {}

HostTensor::HostTensor(DType dtype, llvm::ArrayRef<int64_t> extents,
                       llvm::ArrayRef<unsigned> order) {
  tensor.dtype = dtype;
  tensor.extents.assign(extents.begin(), extents.end());
  tensor.strides.resize(extents.size());
  int64_t count = 1;
  for (unsigned dimension : llvm::reverse(order)) {
    tensor.strides[dimension] = count;
    count *= extents[dimension];
  }
  storage.resize(count * runtime::bytesPerElement(dtype));
  tensor.data = storage.data();
}
