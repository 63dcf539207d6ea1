//===- ArgumentSlots.h - a call's arguments in the CPU entry ----*- C++ -*-===//
//
// Reads the array of 64-bit slots of the launch contract (lowering/README.md)
// once, at the entry of the function: pointers, extents and strides of tensors,
// values of scalars.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "dialect/AttnOps.h"
#include "lowering/common/KernelInfo.h"
#include "lowering/cpu/VectorBuilder.h"

#include <optional>

namespace qm::cpu {

/// A tensor argument; extents and strides are i64, strides in elements.
struct TensorSlots {
  mlir::Value pointer;
  llvm::SmallVector<mlir::Value> extents, strides;
  mlir::Type elementType;

  /// Address of element [batch, head, row, 0...]; indices are i64.
  mlir::Value rowAddress(VectorBuilder &b, mlir::Value batch, mlir::Value head,
                         mlir::Value row) const;
  /// Elements from one row to the next.
  mlir::Value rowStride() const { return strides[2]; }
};

/// The sequence that a query tile is of, in calls whose sequences have lengths
/// of their own; i64.
struct Sequence {
  mlir::Value number; ///< among the call's sequences: the batch of regions
  mlir::Value batch;  ///< the batch entry that it lies in
  mlir::Value firstQuery, firstKey; ///< its rows there
  mlir::Value queries, keys;        ///< its lengths
};

class ArgumentSlots {
public:
  /// Emits the loads at the builder's insertion point.
  ArgumentSlots(VectorBuilder &b, attn::KernelOp kernel, mlir::Value slots);

  const TensorSlots &tensor(mlir::Value argument) const {
    return tensors.find(argument)->second;
  }
  /// An extent of the call, or of the sequence that was entered; i64.
  mlir::Value extent(VectorBuilder &b, attn::Extent kind) const;
  /// What is emitted from now on is about this sequence.
  void enter(const Sequence &place) { sequence = place; }
  void leave() { sequence.reset(); }
  /// Null in calls without lengths.
  const Sequence *getSequence() const {
    return sequence ? &*sequence : nullptr;
  }
  /// The kernel's lengths of sequences, of the queries and of the keys; null
  /// without.
  const TensorSlots *queryLengths() const { return lengths(0); }
  const TensorSlots *keyLengths() const { return lengths(1); }
  bool isPacked() const { return position && position.getPacked(); }
  /// The scalar arguments: kernel argument -> value.
  const llvm::DenseMap<mlir::Value, mlir::Value> &scalars() const {
    return scalarValues;
  }

private:
  const TensorSlots *lengths(unsigned index) const {
    return position && !position.getLengths().empty()
               ? &tensor(position.getLengths()[index])
               : nullptr;
  }

  mlir::Value queryArgument, keyArgument;
  mutable attn::TilePositionOp position;
  std::optional<Sequence> sequence;
  llvm::DenseMap<mlir::Value, TensorSlots> tensors;
  llvm::DenseMap<mlir::Value, mlir::Value> scalarValues;
};

/// One element of a captured buffer, or a vector of them where an index is a
/// vector. Indices are i32 and are clamped to the buffer.
mlir::Value emitCapturedLoad(VectorBuilder &b, const TensorSlots &buffer,
                             llvm::ArrayRef<mlir::Value> indices);

/// Marks a gather whose memory no one writes while the kernel runs, so that it
/// may leave a loop (plain loads carry LLVM's `invariant`).
inline constexpr llvm::StringLiteral invariantLoadAttr = "qm.invariant";

} // namespace qm::cpu
