// Where elements lie in shared memory and which lane reads what. Plain
// arithmetic over an integer type: `Int` in the kernel, `int` in the tests,
// which check by brute force that no access has a bank conflict.
//
// A tile has rows of 128 or 256 bytes. The 16-byte chunk c of row r lies at
// chunk c ^ (r % 8) (the low three bits):
//
//   row 0   0 1 2 3 4 5 6 7      Eight rows of one logical chunk (what a phase
//   of ldmatrix reads), and eight row 1   1 0 3 2 5 4 7 6      chunks of one
//   row (what eight lanes of cp.async write), both touch eight row 2   2 3 0 1
//   6 7 4 5      different chunks modulo 128 bytes, that is all 32 banks once.
//   ...
//
// In every access below row % 8 of a lane does not change from step to step. A
// step of 16 columns is therefore an XOR of the lane's offset (bits 5 and 6)
// and, past 64 columns, 128 bytes more; a step of 8 rows adds to the row.
#pragma once

#include <cstdint>

namespace qm::sm80 {

constexpr int chunkBytes = 16;     ///< unit of the swizzle, and of cp.async
constexpr int halfRowColumns = 64; ///< 128 bytes: all banks once
constexpr int halfRowBytes = 128;

/// Byte offset of chunk `chunk` (0..7 of its half row) in row `row`.
template <class Integer>
Integer chunkOffset(Integer row, Integer chunk, int rowBytes) {
  return row * rowBytes + ((chunk ^ (row % 8)) << 4);
}

/// What a fragment at 16-column step `step` adds to the lane's offset: (lane
/// offset ^ swizzle) + bytes.
struct ColumnStep {
  unsigned swizzle;
  int64_t bytes;
};
constexpr ColumnStep columnStep(int step) {
  return {unsigned(step % 4 * 32), step / 4 * halfRowBytes};
}

/// ldmatrix.x4 of a 16x16 A operand (Q), and, transposed, of a 16x16 B operand
/// (V): matrices are rows 0-7 and 8-15 of columns 0-7, then of columns 8-15.
template <class Integer>
Integer rowMajorFragment(Integer lane, int rowBytes) {
  return chunkOffset(lane % 16, lane / 16, rowBytes);
}

/// ldmatrix.x4 of a 16x16 B operand stored by rows (K): matrices are columns
/// 0-7 and 8-15 of rows 0-7, then of rows 8-15, so that registers 0,1 and 2,3
/// are the pairs that mma wants.
template <class Integer>
Integer columnMajorFragment(Integer lane, int rowBytes) {
  return chunkOffset(lane % 8 + (lane / 16) * 8, (lane / 8) % 2, rowBytes);
}

/// A thread's first chunk of a tile copy: eight threads a half row.
template <class Integer>
Integer copyRow(Integer thread) {
  return thread / 8;
}
template <class Integer>
Integer copyChunk(Integer thread) {
  return thread % 8;
}

/// Where a lane of an accumulator (rows lane/4 and lane/4 + 8, columns 2 (lane
/// % 4) and the next) writes a packed pair of column group 0; group j of 8
/// columns: XOR (j % 8) * 16, plus j / 8 half rows.
template <class Integer>
Integer accumulatorPair(Integer lane, int rowBytes) {
  return (lane / 4) * rowBytes + ((lane / 4) << 4) + (lane % 4) * 4;
}

} // namespace qm::sm80
