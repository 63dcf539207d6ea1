// Rings and turns.
#include "lowering/sm90/Barriers.h"

using namespace mlir;
using namespace qm;
using namespace qm::sm90;

/// Named barriers: 0 is the CTA's own, then one for each consumer's turn (two),
/// then one for the threads of each consumer (up to three).
static constexpr int64_t firstTurn = 1, firstConsumer = 3;

void Ring::initialize() const {
  for (int64_t stage = 0; stage < stages; ++stage) {
    nvvm::mbarrierInit(state.b, state.shared, barriers + 8 * stage, 1);
    nvvm::mbarrierInit(state.b, state.shared, emptyOffset() + 8 * stage,
                       arrivals);
  }
}

Cursor Ring::next(Cursor cursor) const {
  LocBuilder &b = state.b;
  if (stages == 1)
    return {cursor.stage, cursor.round ^ 1};
  if (stages == 2) {
    // The round changes where stage 1 is left.
    return {cursor.stage ^ 1, cursor.round ^ cursor.stage};
  }
  Int stage = cursor.stage + 1;
  Value wraps = stage.equals(stages);
  auto select = [&](Int yes, Int no) {
    return Int(b, arith::SelectOp::create(b, wraps, yes, no));
  };
  return {select(state.i32(0), stage), select(cursor.round ^ 1, cursor.round)};
}

void Ring::waitEmpty(Cursor cursor) const {
  // In the first round the buffers are empty: the phase before the first counts
  // as completed.
  nvvm::mbarrierWait(state.b, address(cursor), emptyOffset(), cursor.round ^ 1);
}

void Ring::expect(Value leader, Cursor cursor, int64_t bytes) const {
  nvvm::mbarrierExpect(state.b, leader, address(cursor), barriers, bytes);
}

void Ring::expect(Value leader, Cursor cursor, Int bytes) const {
  nvvm::mbarrierExpect(state.b, leader, address(cursor), barriers, bytes.get());
}

void Ring::announce(Value leader, Cursor cursor) const {
  nvvm::mbarrierArrive(state.b, leader, address(cursor), barriers);
}

void Ring::waitFull(Cursor cursor) const {
  nvvm::mbarrierWait(state.b, address(cursor), barriers, cursor.round);
}

void Ring::release(Value leader, Cursor cursor) const {
  nvvm::mbarrierArrive(state.b, leader, address(cursor), emptyOffset());
}

void Turns::start() const {
  if (!state.plan.pingPong)
    return;
  // As if the last consumer had just had its turn.
  Value last = state.thread.warpgroup.equals(state.plan.consumers);
  emitIf(state.b, last, [&] {
    nvvm::arriveNamedBarrier(state.b, state.i32(firstTurn),
                             2 * warpgroupThreads);
  });
}

void Turns::enter() const {
  if (state.plan.pingPong)
    nvvm::syncNamedBarrier(state.b, state.thread.warpgroup + (firstTurn - 1),
                           2 * warpgroupThreads);
}

void Turns::leave() const {
  // Warpgroups 1 and 2 have barriers 1 and 2: the other one's is 3 minus one's
  // own.
  if (state.plan.pingPong)
    nvvm::arriveNamedBarrier(state.b,
                             state.i32(2 * firstTurn + 1) -
                                 (state.thread.warpgroup + (firstTurn - 1)),
                             2 * warpgroupThreads);
}

void qm::sm90::syncConsumer(KernelState &state, Int consumer) {
  nvvm::syncNamedBarrier(state.b, consumer + firstConsumer, warpgroupThreads);
}

void Staged::initialize() const {
  const Plan &plan = state.plan;
  for (int64_t i = 0; i < plan.consumers * plan.queryBuffers; ++i)
    nvvm::mbarrierInit(state.b, state.shared, plan.stagedBarriers() + 8 * i,
                       warpgroupThreads / 32);
}

Int Staged::address(Int consumer, Cursor query) const {
  return state.shared + (consumer * state.plan.queryBuffers + query.stage) * 8;
}

void Staged::announce(Int consumer, Cursor query) const {
  // Every thread's writes come before its warp's arrival.
  nvvm::fenceAsyncProxy(state.b);
  nvvm::warpBarrier(state.b);
  nvvm::mbarrierArrive(state.b, state.thread.lane.equals(0),
                       address(consumer, query), state.plan.stagedBarriers());
}

void Staged::await(Int consumer, Cursor query) const {
  nvvm::mbarrierWait(state.b, address(consumer, query),
                     state.plan.stagedBarriers(), query.round);
}
