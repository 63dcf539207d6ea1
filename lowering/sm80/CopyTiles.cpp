// Copies of tiles from global to shared memory.
#include "lowering/sm80/CopyTiles.h"

#include "lowering/sm80/Layout.h"

using namespace mlir;
using namespace qm;
using namespace qm::sm80;

/// Copies between two groups of mma. ptxas puts three dummy loads before a
/// cp.async that follows an ldmatrix, so few bursts; and all of them early in a
/// product, or they land too late.
static constexpr unsigned burst = 4;
static constexpr int64_t elementBytes = 2;

//===----------------------------------------------------------------------===//
// TileSource
//===----------------------------------------------------------------------===//

TileSource::TileSource(KernelState &state, attn::LoadTileOp load, int64_t rows)
    : state(state), tensor(load.getSource()), rows(rows) {
  rowBytes = elementBytes * load.getTile().getType().getColumns();
  base = state.arguments.elementAddress(
      tensor, {state.scalar(load.getBatch()), state.scalar(load.getHead())});
}

void TileSource::keepInShared(int64_t offset) {
  nvvm::storeShared64(state.b, state.shared, offset, base);
  base = {};
  baseOffset = offset;
}

unsigned TileSource::Copy::size() const {
  return source->rows / source->state.plan.copyRows() *
         (source->rowBytes / halfRowBytes);
}

void TileSource::Copy::issue(unsigned i) {
  KernelState &state = source->state;
  LocBuilder &b = state.b;
  int64_t copyRows = state.plan.copyRows();
  Int stride = state.arguments.stride(source->tensor, 2);
  if (i == 0) {
    Int base = source->base;
    if (!base)
      base = {b, nvvm::loadShared64(b, state.shared, source->baseOffset)};
    // The thread's part is formed anew for every tile: kept, it would take
    // registers through the products.
    Int thread = readThread(b, /*again=*/true).index;
    Int row = copyRow(thread), chunk = copyChunk(thread);
    sharedBase = place.base(state.shared +
                            chunkOffset(row, chunk, int(source->rowBytes)));
    row = firstRow + row;
    rowsLeft = state.arguments.extent(source->tensor, 2) - row;
    global = {b, nvvm::opaqueMulAdd(b, row.wide() * stride, elementBytes,
                                    (chunk * chunkBytes).wide() + base)};
  }
  int64_t halves = source->rowBytes / halfRowBytes;
  int64_t row = i / halves * copyRows, half = i % halves * halfRowBytes;
  if (i != 0 && i % halves == 0)
    global = {b,
              nvvm::opaqueMulAdd(b, stride, elementBytes * copyRows, global)};
  Value exists = Int::constant(b, row).lessThan(rowsLeft);
  Value bytes = arith::SelectOp::create(b, exists, Int::constant(b, chunkBytes),
                                        Int::constant(b, 0));
  nvvm::cpAsync16(b, sharedBase, place.bytes + row * source->rowBytes + half,
                  global, half, bytes);
}

void TileSource::Copy::issueAll() {
  for (unsigned i = 0, e = size(); i < e; ++i)
    issue(i);
}

//===----------------------------------------------------------------------===//
// TileRing
//===----------------------------------------------------------------------===//

TileRing::TileRing(KernelState &state, ArrayRef<attn::LoadTileOp> loads)
    : state(state) {
  for (auto [index, load] : llvm::enumerate(loads)) {
    sources.emplace_back(state, load, state.plan.tileN);
    if (state.plan.registersAreScarce())
      sources.back().keepInShared(state.plan.baseOffset(index));
  }
  if (state.plan.stages > 2)
    current = Int::constant(state.b, 0);
}

/// The slot `ahead` tiles after the current one; with two stages, of tile
/// `ahead` of a block.
SharedPlace TileRing::slot(int64_t ahead) const {
  const Plan &plan = state.plan;
  if (!current)
    return {plan.slotOffset(ahead % plan.stages), {}};
  ahead %= plan.stages;
  if (ahead == 0)
    return {plan.slotOffset(0), current};
  // Wraps at the end of the ring.
  int64_t end = plan.stages * plan.slotBytes();
  Int next = current + ahead * plan.slotBytes();
  Value wraps = Int::constant(state.b, end).atMost(next);
  return {
      plan.slotOffset(0),
      Int(state.b, arith::SelectOp::create(state.b, wraps, next - end, next))};
}

void TileRing::start(Int firstKey) {
  for (int64_t tile = 0; tile + 1 < state.plan.stages; ++tile) {
    TileSource::Copy(sources[tile], firstKey, {state.plan.slotOffset(tile), {}})
        .issueAll();
    nvvm::cpAsyncCommit(state.b);
  }
}

void TileRing::waitForFirst() {
  nvvm::cpAsyncWait(state.b, state.plan.stages - 2);
  nvvm::barrier(state.b);
}

SmallVector<Value> TileRing::carried() const {
  return current ? SmallVector<Value>{current} : SmallVector<Value>();
}

void TileRing::setCarried(ValueRange values) {
  if (current)
    current = {state.b, values.front()};
}

TileRing::Visible TileRing::acquire(unsigned index, Int firstKey,
                                    Int nextFirstKey) {
  nvvm::cpAsyncWait(state.b, state.plan.stages - 2);
  nvvm::barrier(state.b);
  // With two stages slot numbers count from the block's first tile, with three
  // from the current one.
  unsigned from = current ? 0 : index;
  unsigned ahead = state.plan.stages - 1;
  SharedPlace place = slot(from), target = slot(from + ahead);
  unsigned tile = index + ahead;
  TileSource::Copy copy(sources[tile % sources.size()],
                        tile < sources.size() ? firstKey : nextFirstKey,
                        target);
  if (current)
    current = slot(1).dynamic;
  return {place, [this, copy](unsigned group) mutable {
            unsigned begin = group * burst, end = copy.size();
            for (unsigned i = begin; i < std::min(begin + burst, end); ++i)
              copy.issue(i);
            if (begin < end && begin + burst >= end)
              nvvm::cpAsyncCommit(state.b);
          }};
}
