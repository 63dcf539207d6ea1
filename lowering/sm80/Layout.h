// Where elements lie in shared memory and which lane reads what. Plain
// arithmetic over an integer type: `Int` in the kernel, `int` in the tests,
// which check by brute force that no access has a bank conflict.
//
// A row of D elements takes an even number of 16-byte chunks (mma wants steps
// of 16 columns; what D leaves of the last is zeros) and is laid out in one of
// two ways, which its length tells apart:
//
// * a multiple of 8 chunks (128 bytes) is kept as it is, and chunk c of row r
//   lies at chunk c ^ (r % 8) (the low three bits):
//
//     row 0   0 1 2 3 4 5 6 7    Eight rows of one logical chunk (what a phase
//     row 1   1 0 3 2 5 4 7 6    of ldmatrix reads), and eight chunks of one
//     row row 2   2 3 0 1 6 7 4 5    (what eight lanes of cp.async write), both
//     ...                        touch all 32 banks once.
//
// * any other length gets one unused chunk. An odd number of chunks a row is
//   enough: eight rows of one chunk differ modulo 8 without a swizzle.
//
// In every access below row % 8 of a lane does not change from step to step. A
// step of 16 columns is therefore an XOR of the lane's offset (bits 5 and 6)
// and, past 64 columns, 128 bytes more (without swizzle: 32 bytes a step); a
// step of 8 rows adds to the row.
#pragma once

#include <cstdint>

namespace qm::sm80 {

constexpr int chunkBytes = 16;     ///< unit of the swizzle, and of cp.async
constexpr int halfRowColumns = 64; ///< 128 bytes: all banks once
constexpr int halfRowBytes = 128;

/// Chunks of a row that hold `columns` elements and the zeros after them.
constexpr int rowChunks(int64_t columns) { return int(columns + 15) / 16 * 2; }
/// Bytes from one row of `columns` elements to the next.
constexpr int rowBytesFor(int64_t columns) {
  int chunks = rowChunks(columns);
  return (chunks % 8 == 0 ? chunks : chunks + 1) * chunkBytes;
}
/// A row of 4-byte elements is laid out as one of this many 2-byte elements: a
/// step of 16 columns is two steps there.
constexpr int64_t wideColumns(int64_t columns) {
  return (columns + 15) / 16 * 32;
}
constexpr bool isSwizzled(int rowBytes) { return rowBytes % halfRowBytes == 0; }

/// Byte offset of chunk `chunk` in row `row`.
template <class Integer>
Integer chunkOffset(Integer row, Integer chunk, int rowBytes) {
  if (!isSwizzled(rowBytes))
    return row * rowBytes + (chunk << 4);
  return row * rowBytes + ((chunk ^ (row % 8)) << 4);
}

/// What a fragment at 16-column step `step` adds to the lane's offset: (lane
/// offset ^ swizzle) + bytes.
struct ColumnStep {
  unsigned swizzle;
  int64_t bytes;
};
constexpr ColumnStep columnStep(int step, int rowBytes = halfRowBytes) {
  if (!isSwizzled(rowBytes))
    return {0, step * 32};
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

/// The element of a value tile of 4-byte elements (a row of which is laid out
/// as wideColumns) that a lane reads first: row 2 (lane % 4), column lane / 4.
/// A step of 8 columns is one of columnStep.
template <class Integer>
Integer wideValueElement(Integer lane, int rowBytes) {
  return chunkOffset((lane % 4) * 2, lane / 16, rowBytes) + (lane / 4 % 4) * 4;
}
/// What row `row` more adds: (lane offset ^ swizzle) + bytes. Rows count from
/// an even one, and 8 of them leave the swizzle.
constexpr ColumnStep wideValueRow(int row, int rowBytes) {
  return {isSwizzled(rowBytes) && row % 2 ? unsigned(chunkBytes) : 0u,
          int64_t(row) * rowBytes};
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
/// % 4) and the next) writes a packed pair of column group 0.
template <class Integer>
Integer accumulatorPair(Integer lane, int rowBytes) {
  Integer row = lane / 4;
  Integer rowOffset =
      isSwizzled(rowBytes) ? row * rowBytes + ((row % 8) << 4) : row * rowBytes;
  return rowOffset + (lane % 4) * 4;
}
/// What group j of 8 columns adds: (lane offset ^ swizzle) + bytes.
constexpr ColumnStep groupStep(int group, int rowBytes = halfRowBytes) {
  if (!isSwizzled(rowBytes))
    return {0, group * chunkBytes};
  return {unsigned(group % 8 * chunkBytes), group / 8 * halfRowBytes};
}

/// Lanes that read one row of the staged output, 16 bytes each: a power of two
/// and no fewer than a phase.
constexpr int outputLanes(int64_t columns) {
  int lanes = 8;
  while (lanes < columns / 8)
    lanes *= 2;
  return lanes;
}

} // namespace qm::sm80
