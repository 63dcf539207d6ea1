// Rings of buffers in shared memory between the producer, which fills them by
// tensor copies, and the consumers, which empty them. Every buffer has a full
// barrier (the producer's announcement and the bytes of the copies complete a
// phase) and an empty barrier (one arrival of every consumer does).
#pragma once

#include "lowering/sm90/KernelState.h"

namespace qm::sm90 {

/// A place in a ring: which buffer, and how often the ring has come round (its
/// low bit). Both i32.
struct Cursor {
  Int stage, round;

  static Cursor start(KernelState &state) {
    return {state.i32(0), state.i32(0)};
  }
};

class Ring {
public:
  /// `barriers`: their offset in shared memory; `arrivals` empty a buffer.
  Ring(KernelState &state, int64_t barriers, int64_t stages, int64_t arrivals)
      : state(state), barriers(barriers), stages(stages), arrivals(arrivals) {}

  /// One thread, once, before any role starts.
  void initialize() const;
  Cursor next(Cursor cursor) const;
  int64_t size() const { return stages; }

  /// Producer: waits until the buffer is empty.
  void waitEmpty(Cursor cursor) const;
  /// Producer, threads for which `leader` holds: copies of `bytes` will follow.
  void expect(mlir::Value leader, Cursor cursor, int64_t bytes) const;
  void expect(mlir::Value leader, Cursor cursor, Int bytes) const;
  /// The same for a buffer filled by ordinary stores, which are done.
  void announce(mlir::Value leader, Cursor cursor) const;
  /// Address and constant offset of the barrier that copies count on.
  std::pair<Int, int64_t> full(Cursor cursor) const {
    return {address(cursor), barriers};
  }

  /// Consumer: waits until the buffer is full.
  void waitFull(Cursor cursor) const;
  /// Consumer, one thread of it (`leader`): the buffer may be filled again.
  void release(mlir::Value leader, Cursor cursor) const;

private:
  Int address(Cursor cursor) const {
    return state.shared + (cursor.stage << 3);
  }
  int64_t emptyOffset() const { return barriers + 8 * stages; }

  KernelState &state;
  int64_t barriers, stages, arrivals;
};

/// The turns of two consumers at the matrix unit: each issues its products
/// between `enter` and `leave`.
class Turns {
public:
  explicit Turns(KernelState &state) : state(state) {}
  /// Once, by every consumer: consumer 0 begins.
  void start() const;
  void enter() const;
  void leave() const;

private:
  KernelState &state;
};

/// Waits for all threads of the consumer (i32, from 0).
void syncConsumer(KernelState &state, Int consumer);

/// Between a consumer (i32, from 0) and the warp that stores for it, a barrier
/// for each query buffer: the consumer has staged its rows of the output there.
/// It cannot complete twice unseen: the buffer is filled again only after the
/// store.
class Staged {
public:
  explicit Staged(KernelState &state) : state(state) {}
  void initialize() const;
  /// Consumer, all threads, after their writes.
  void announce(Int consumer, Cursor query) const;
  void await(Int consumer, Cursor query) const;

private:
  Int address(Int consumer, Cursor query) const;

  KernelState &state;
};

} // namespace qm::sm90
