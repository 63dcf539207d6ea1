//===- ParallelTiles.h - run a CPU kernel's tiles on all cores --*- C++ -*-===//
//
// One process-wide pool of sleeping threads. The calling thread always works on
// its own call, and never waits for a helper that has not joined it, so calls
// from several threads at once, and calls from inside a kernel, cannot block
// each other. Nothing is allocated after the pool has grown to its size.
//
//===----------------------------------------------------------------------===//
#pragma once

#include <cstdint>

namespace qm::runtime {

/// The CPU entry of the launch contract (lowering/README.md): runs query tiles
/// [tileBegin, tileEnd) of the call described by `slots`. Must not throw.
using TileEntry = void (*)(const int64_t *slots, int64_t tileBegin,
                           int64_t tileEnd);

/// Runs tiles [0, tiles) of `entry` and returns when all are done. `threads`
/// counts the calling thread; 0 means every core this process may use.
/// Ranges are handed out in ascending order, a few tiles at a time, so a kernel
/// that puts its longest tiles first stays balanced. Requires tiles < 2^62.
void parallelTiles(TileEntry entry, const int64_t *slots, int64_t tiles,
                   unsigned threads);

/// The number of threads that `threads = 0` stands for.
unsigned defaultThreadCount();

} // namespace qm::runtime
