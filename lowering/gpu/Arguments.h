// The kernel's arguments as the launch contract passes them: pointers, extents,
// strides and scalars in 64-bit slots of the parameter. A slot is read where it
// is used: it is an operand from constant memory, no register.
#pragma once

#include "lowering/common/KernelInfo.h"
#include "lowering/gpu/Int.h"

#include <optional>

namespace qm::gpu {

/// The sequence that a query tile is of, in calls whose sequences have lengths
/// of their own; i32.
struct Sequence {
  Int firstQuery, firstKey; ///< its rows in the tensors
  Int queries, keys;        ///< its lengths
};

class Arguments {
public:
  Arguments(LocBuilder &b, attn::KernelOp kernel, mlir::Value slots)
      : b(b), kernel(kernel), info(lowering::KernelInfo::get(kernel)),
        slots(slots) {}

  /// i64 address of element [0, ..., 0].
  Int pointer(mlir::Value tensor);
  /// i32; a constant where the type says it.
  Int extent(mlir::Value tensor, unsigned dimension);
  /// i64, in elements.
  Int stride(mlir::Value tensor, unsigned dimension);
  mlir::Value scalar(mlir::Value argument);
  /// Of the call, or of the sequence that was entered.
  Int extentOfCall(attn::Extent extent);

  bool isPacked() const {
    return info.sequences == lowering::Sequences::Packed;
  }
  /// The arguments that hold lengths, or where packed sequences start.
  mlir::Value queryLengths() {
    return kernel.getArguments()[info.queryLengths];
  }
  mlir::Value keyLengths() { return kernel.getArguments()[info.keyLengths]; }
  /// What is emitted from now on is about this sequence.
  void enter(const Sequence &place) { sequence = place; }
  void leave() { sequence.reset(); }
  const Sequence *getSequence() const {
    return sequence ? &*sequence : nullptr;
  }

  /// i64 address of `tensor[indices]`; indices of i32 or i64, fewer than the
  /// rank: the rest are 0.
  Int elementAddress(mlir::Value tensor, llvm::ArrayRef<Int> indices);
  /// i64 address of a row of q, k, v or an output: `row` of the sequence that
  /// was entered, null for its first; `ofKeys` of k and v.
  Int rowAddress(mlir::Value tensor, Int batch, Int head, Int row, bool ofKeys);
  /// One element of a captured buffer, every index clamped to its extent.
  mlir::Value loadClamped(mlir::Value tensor, mlir::ValueRange indices);

private:
  mlir::Value slot(unsigned index, mlir::Type type);
  const lowering::ArgumentInfo &infoOf(mlir::Value argument) const;

  LocBuilder &b;
  attn::KernelOp kernel;
  lowering::KernelInfo info;
  mlir::Value slots;
  std::optional<Sequence> sequence;
};

} // namespace qm::gpu
