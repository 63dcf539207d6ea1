// Turns, slots and copies of the ping-pong schedule.
#include "lowering/sm80/PingPong.h"

using namespace mlir;
using namespace qm;
using namespace qm::sm80;

/// Named barriers at which group 0 and group 1 wait for their turn.
static constexpr unsigned firstTurn = 1, secondTurn = 2;
static constexpr int64_t blockSlots = 3;

/// Groups of mma after the hand-over: the other group's first fragments are on
/// their way when this one is done. In a hand-written kernel of this schedule,
/// at head dim 128 on an H200, handing over at the very end cost 4 %, much
/// earlier 2 to 3 %.
static unsigned earlyGroups(const Plan &plan) {
  return plan.headDim <= 64 ? 4 : 6;
}

PingPong::PingPong(KernelState &state, ArrayRef<attn::LoadTileOp> loads)
    : state(state), current(Int::constant(state.b, 0)) {
  for (auto [index, load] : llvm::enumerate(loads)) {
    sources.emplace_back(state, load, state.plan.tileN);
    if (state.plan.registersAreScarce())
      sources.back().keepInShared(state.plan.baseOffset(index));
  }
}

Int PingPong::slotAfter(Int slot) const {
  LocBuilder &b = state.b;
  int64_t bytes = state.plan.slotBytes();
  Value wraps = slot.equals((blockSlots - 1) * bytes);
  return {b,
          arith::SelectOp::create(b, wraps, Int::constant(b, 0), slot + bytes)};
}

Int PingPong::slotBefore(Int slot) const {
  LocBuilder &b = state.b;
  int64_t bytes = state.plan.slotBytes();
  return {b, arith::SelectOp::create(b, slot.equals(0),
                                     Int::constant(b, (blockSlots - 1) * bytes),
                                     slot - bytes)};
}

Value PingPong::isSecondGroup() {
  int64_t warps = state.plan.warps / 2;
  return Int::constant(state.b, warps).atMost(state.thread.warp);
}

SmallVector<TileSource::Copy, 2> PingPong::copies(Int firstKey, Int slot) {
  SmallVector<TileSource::Copy, 2> result;
  for (auto [index, source] : llvm::enumerate(sources)) {
    SharedPlace place{state.plan.slotOffset(index * blockSlots), slot};
    if (source.getWalk())
      result.push_back(TileSource::Copy(source, place).ofWholeTile(nextExists));
    else
      result.emplace_back(source, firstKey, place);
  }
  return result;
}

void PingPong::beginRun(Int nextFirstKey) {
  for (TileSource &source : sources)
    source.beginWalk(nextFirstKey);
}

void PingPong::endRun() {
  for (TileSource &source : sources)
    source.endWalk();
}

SmallVector<Value> PingPong::carried() const {
  SmallVector<Value> values{current};
  for (const TileSource &source : sources)
    if (Int walk = source.getWalk())
      values.push_back(walk);
  return values;
}

void PingPong::setCarried(ValueRange values) {
  current = {state.b, values.front()};
  for (auto [index, source] : llvm::enumerate(sources))
    if (source.getWalk())
      source.setWalk({state.b, values[1 + index]});
}

void PingPong::start(Int firstKey) {
  LocBuilder &b = state.b;
  for (TileSource::Copy &copy : copies(firstKey, current))
    copy.issueAll();
  nvvm::cpAsyncCommit(b);
  nvvm::cpAsyncWait(b, 0);
  nvvm::barrier(b);
  for (TileSource &source : sources)
    source.releaseBase();
  // Group 0 may begin.
  nvvm::namedBarrierArriveIf(b, isSecondGroup(), firstTurn,
                             state.plan.threads());
}

void PingPong::enter() {
  LocBuilder &b = state.b;
  nvvm::cpAsyncWait(b, 0);
  nvvm::namedBarrierSync(b, isSecondGroup(), secondTurn, firstTurn,
                         state.plan.threads());
}

void PingPong::leave() {
  LocBuilder &b = state.b;
  Value second = isSecondGroup();
  nvvm::cpAsyncWaitIf(b, second, 0);
  nvvm::namedBarrierArriveIf(b, second, firstTurn, state.plan.threads());
  Value first = state.thread.warp.lessThan(state.plan.warps / 2);
  nvvm::namedBarrierArriveIf(b, first, secondTurn, state.plan.threads());
}

void PingPong::leaveLast() {
  Value first = state.thread.warp.lessThan(state.plan.warps / 2);
  nvvm::namedBarrierArriveIf(state.b, first, secondTurn, state.plan.threads());
}

void PingPong::copyNext(Int nextFirstKey) {
  for (TileSource::Copy &copy : copies(nextFirstKey, slotAfter(current)))
    copy.issueAll();
  nvvm::cpAsyncCommit(state.b);
}

TileSupply::Visible PingPong::acquire(unsigned index, Int, Int nextFirstKey) {
  const Plan &plan = state.plan;
  if (index == 0) {
    unsigned groups = plan.groupsOf(0);
    unsigned last = groups - 1 - std::min(earlyGroups(plan), groups - 1);
    return {{plan.slotOffset(0), current}, [this, last](unsigned group) {
              if (group == last)
                leave();
            }};
  }
  SharedPlace place{plan.slotOffset(blockSlots), slotBefore(current)};
  auto next = copies(nextFirstKey, slotAfter(current));
  return {place, [this, next](unsigned group) mutable {
            if (group < next.size())
              next[group].issueAll();
            if (group + 1 == next.size())
              nvvm::cpAsyncCommit(state.b);
          }};
}

TileSupply::Visible PingPong::lastValues() {
  return {{state.plan.slotOffset(blockSlots), slotBefore(current)},
          [](unsigned) {}};
}

void PingPong::finish() {
  nvvm::cpAsyncWait(state.b, 0);
  waitForQueryRows(state);
}
