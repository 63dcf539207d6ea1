//===- ParallelTiles.h - run a CPU kernel's tiles on all cores --*- C++ -*-===//
//
// One process-wide pool of sleeping threads. The calling thread works on its
// own call, and never waits for a helper that has not joined it, so calls from
// several threads at once, and calls from inside a kernel, cannot block each
// other. Nothing is allocated after the pool has grown to its size.
//
// A tile's scratch lies on the stack of the thread that runs it. A caller whose
// stack has no room for it (a small one, a coroutine's) leaves its call to the
// helpers, whose stacks are made large enough, and waits.
//
//===----------------------------------------------------------------------===//
#pragma once

#include <cstddef>
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
/// False, with nothing run: the caller's stack is too small for a tile, and the
/// system gives no thread.
bool parallelTiles(TileEntry entry, const int64_t *slots, int64_t tiles,
                   unsigned threads);

/// Stack that a thread has free when it runs a tile: the scratch that the CPU
/// lowering allows (2 MiB), and what its frames need.
inline constexpr size_t tileStackBytes = (2 << 20) + (128 << 10);

/// The number of threads that `threads = 0` stands for.
unsigned defaultThreadCount();

} // namespace qm::runtime
