// Loads of a score modifier whose last index goes up with the key: a bias by
// query and key, a table by distance. In a block that lies inside the buffer as
// a whole no index has to be clamped: a thread forms one address, and the rest
// are constants of the instruction. Such loads do not wait for the scores.
#pragma once

#include "lowering/gpu/ElementRegion.h"
#include "lowering/sm90/KernelState.h"

namespace qm::sm90 {

class TileLoads {
public:
  TileLoads(KernelState &state, attn::MapOp map);

  /// Narrows the range of first keys of those blocks of `tile` that the loads
  /// can take this way; null: no limit. Nothing is left where a buffer's layout
  /// is another.
  void narrow(Tile &tile, Int &first, Int &last);

  /// Registers that `emit` fills.
  int64_t registers();
  /// Emits the loads of such a block and hands them to `regions`, those of the
  /// map. `rows`, `columns`: the thread's.
  void emit(llvm::ArrayRef<gpu::ElementRegion *> regions,
            const mlir::IRMapping &scalars, mlir::ValueRange rows,
            mlir::ValueRange columns);

private:
  struct Access {
    attn::LoadOp load;
    int64_t rowStep;  ///< what the last index grows by from row to row
    bool sharesRows;  ///< no other index depends on the row
    unsigned perLoad; ///< neighbouring keys that one instruction loads
    int64_t bytes();
  };

  std::optional<Access> analyze(attn::LoadOp load);
  mlir::Value emitIndex(mlir::Value index, const mlir::IRMapping &scalars,
                        Int row, Int column);
  Int emitAddress(Access &access, const mlir::IRMapping &scalars, Int row,
                  Int column);

  KernelState &state;
  mlir::Block &body;
  llvm::SmallVector<Access> accesses;
};

} // namespace qm::sm90
