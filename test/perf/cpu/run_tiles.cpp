// The thread pool of the runtime with a C name, for Python.
#include "runtime/ParallelTiles.h"

extern "C" __attribute__((visibility("default"))) void
qm_perf_run_tiles(qm::runtime::TileEntry entry, const int64_t *slots,
                  int64_t tiles, unsigned threads) {
  qm::runtime::parallelTiles(entry, slots, tiles, threads);
}
