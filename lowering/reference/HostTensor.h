//===- HostTensor.h - tensors in host memory --------------------*- C++ -*-===//
//
// Element types, strided views and exact element conversion, shared by the
// reference interpreter and by qmc. Extents and strides are in elements;
// strides are signed and may be 0 (broadcast). A view owns nothing.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "runtime/DataType.h"

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"

#include <cstdint>
#include <optional>
#include <variant>
#include <vector>

namespace mlir {
class Type;
}

namespace qm::reference {

/// Element types are the runtime's: what can be launched can be evaluated.
using DType = runtime::DataType;

bool isFloat(DType type);
/// The element type of an MLIR type, or nothing if it has no host form.
std::optional<DType> dtypeOf(mlir::Type type);

/// `value` rounded to nearest even in `type` (exact for f64).
double roundTo(DType type, double value);

/// A strided view of host memory.
struct TensorView {
  void *data = nullptr;
  DType dtype = DType::F32;
  llvm::SmallVector<int64_t, 4> extents;
  llvm::SmallVector<int64_t, 4> strides;

  unsigned rank() const { return extents.size(); }
  int64_t numElements() const;
  /// Offset in elements of `index`.
  int64_t offset(llvm::ArrayRef<int64_t> index) const;
};

/// Reads element `offset` exactly. Integers come sign-extended, i1 as -1 or 0.
double loadFloat(const TensorView &view, int64_t offset);
int64_t loadInteger(const TensorView &view, int64_t offset);
/// Rounds `value` to the view's type and writes it.
void storeFloat(const TensorView &view, int64_t offset, double value);
void storeInteger(const TensorView &view, int64_t offset, int64_t value);

/// One argument of a call: a tensor or a run-time scalar.
using Argument = std::variant<TensorView, int32_t, float>;

/// Memory and a view of all of it.
class HostTensor {
public:
  /// Zero-filled, row-major.
  HostTensor(DType dtype, llvm::ArrayRef<int64_t> extents);
  /// Zero-filled, with dimension `order[0]` outermost in memory.
  HostTensor(DType dtype, llvm::ArrayRef<int64_t> extents,
             llvm::ArrayRef<unsigned> order);

  const TensorView &view() const { return tensor; }
  llvm::ArrayRef<uint8_t> bytes() const { return storage; }
  llvm::MutableArrayRef<uint8_t> bytes() { return storage; }

  HostTensor(HostTensor &&) = default;
  HostTensor &operator=(HostTensor &&) = default;
  HostTensor(const HostTensor &) = delete;
  HostTensor &operator=(const HostTensor &) = delete;

private:
  std::vector<uint8_t> storage;
  TensorView tensor;
};

} // namespace qm::reference
