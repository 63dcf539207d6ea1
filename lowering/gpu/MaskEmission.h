// One emission of a mask's words: what the files of MaskWords share.
#pragma once

#include "lowering/gpu/MaskWords.h"

namespace qm::gpu {

constexpr int64_t wordBits = 32;

/// A bit of an i32 of a captured buffer: `load` is word j / 32 of a row, and
/// the predicate its bit j mod 32.
attn::LoadOp matchBit(mlir::Value predicate, mlir::Value key, bool &negated);

struct MaskWords::Emission {
  LocBuilder &b;
  ElementRegion &region;
  const Place &place;
  llvm::DenseMap<std::pair<mlir::Value, unsigned>, mlir::Value> words;

  Emission(LocBuilder &b, ElementRegion &region, const Place &place)
      : b(b), region(region), place(place) {}

  /// A value of the region for a row and column of the thread.
  mlir::Value value(mlir::Value of, unsigned row, unsigned column) {
    return region.emitValue(b, of, {place.rows[row], place.columns[column]},
                            row, column);
  }
  Int integer(mlir::Value of, unsigned row, unsigned column) {
    return {b, value(of, row, column)};
  }
  Int constant(int64_t value) { return Int::constant(b, value); }
  Int choose(mlir::Value condition, mlir::Value yes, mlir::Value no) {
    return {b, mlir::arith::SelectOp::create(b, condition, yes, no)};
  }
};

} // namespace qm::gpu
