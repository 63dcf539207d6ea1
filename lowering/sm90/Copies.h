// Tiles between global and shared memory by tensor copies: one box of 64
// columns a panel.
#pragma once

#include "lowering/sm90/Barriers.h"

namespace qm::sm90 {

/// Producer: copies rows from `row` on of the operand that `load` reads into
/// the buffer of `ring` at `cursor`, once it is empty. Rows and columns past
/// the extents become zeros and are not read. Boxes behind the first that lie
/// past `present` rows (null: all are there) stay as they were. `leader` holds
/// for one lane.
class TileLoader {
public:
  /// `buffer`: offset of buffer 0 of the ring in shared memory, `bufferBytes`
  /// from one to the next; tiles of `rows`.
  TileLoader(KernelState &state, const Ring &ring, mlir::Value map,
             attn::LoadTileOp load, int64_t rows, int64_t boxRows,
             int64_t columns, int64_t buffer, int64_t bufferBytes)
      : state(state), ring(ring), map(map), batchOperand(load.getBatch()),
        headOperand(load.getHead()), rows(rows), boxRows(boxRows),
        columns(columns), buffer(buffer), bufferBytes(bufferBytes) {}

  void emit(mlir::Value leader, Cursor cursor, Int batch, Int head, Int row,
            Int present) const;
  /// Batch and head of the operand for a query tile.
  Int batch(const Tile &tile) const {
    if (state.arguments.isPacked())
      return state.i32(0);
    return {state.b, tile.scalars.lookupOrDefault(batchOperand)};
  }
  Int head(const Tile &tile) const {
    return {state.b, tile.scalars.lookupOrDefault(headOperand)};
  }

private:
  KernelState &state;
  const Ring &ring;
  mlir::Value map;
  mlir::Value batchOperand, headOperand;
  int64_t rows, boxRows, columns, buffer, bufferBytes;
};

/// The rings of a kernel and what fills them.
struct Rings {
  Ring query, key, value;
  TileLoader loadQuery, loadKeys, loadValues;

  explicit Rings(KernelState &state);
  /// The address of the value tile at `cursor`.
  Int valueBuffer(Cursor cursor) const;

private:
  KernelState &state;
};

/// The address of the 64 rows of a consumer (i32, from 0) in query buffer
/// `query`.
Int queryRows(KernelState &state, Cursor query, Int consumer);

/// Rows of a tile in shared memory, panel after panel.
struct PanelRows {
  Int address;        ///< i32, of the first panel's
  int64_t count;      ///< rows
  int64_t columns;    ///< of the operand
  int64_t panelBytes; ///< from one panel to the next
};

/// Consumer, all threads: zeros in the rows from `first` on, there for the
/// products that follow.
void clearRows(KernelState &state, PanelRows rows, Int first, Int consumer);

} // namespace qm::sm90
