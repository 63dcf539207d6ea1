// Copies of tiles from global to shared memory.
#include "lowering/sm80/CopyTiles.h"

#include "lowering/sm80/Layout.h"
#include "lowering/sm80/PaddingKeys.h"

using namespace mlir;
using namespace qm;
using namespace qm::sm80;

/// Copies between two groups of mma. ptxas puts three dummy loads before a
/// cp.async that follows an ldmatrix, so few bursts; and all of them early in a
/// product, or they land too late.
static constexpr unsigned burst = 4;

/// Copies of 128 bytes that hold a row, the last one perhaps in part.
static unsigned halfRows(int64_t columns) {
  return (columns + halfRowColumns - 1) / halfRowColumns;
}

//===----------------------------------------------------------------------===//
// TileSource
//===----------------------------------------------------------------------===//

TileSource::TileSource(KernelState &state, attn::LoadTileOp load, int64_t rows)
    : state(state), tensor(load.getSource()), rows(rows) {
  int64_t elements = load.getTile().getType().getColumns();
  columns = state.plan.halfColumns(elements);
  realChunks = elements * state.plan.elementBytes() / chunkBytes;
  holdsKeys = isa<attn::KeyBlocksOp>(load->getParentOp());
  holdsValues = tensor == load->getParentOfType<attn::KernelOp>().getV();
  base =
      state.rowAddress(tensor, load.getBatch(), load.getHead(), {}, holdsKeys);
  if (!state.plan.keepsCopyAddresses)
    return;
  Int thread = state.thread.index;
  own = {base + (rowOffset(copyRow(thread)) +
                 (copyChunk(thread) * chunkBytes).wide()),
         threadOffset(thread)};
}

/// Bytes from row 0 to `row`. Rows are fewer than 2^31, twice their number is
/// unsigned.
Int TileSource::rowOffset(Int row) const {
  LocBuilder &b = state.b;
  Int twice(b, arith::ExtUIOp::create(b, b.getI64Type(), row * 2));
  Int halves = twice * state.arguments.stride(tensor, 2);
  return state.plan.elementBytes() == 2
             ? halves
             : halves * (state.plan.elementBytes() / 2);
}

/// Shared address of the thread's first chunk in a tile at the start of shared
/// memory.
Int TileSource::threadOffset(Int thread) const {
  return state.shared +
         chunkOffset(copyRow(thread), copyChunk(thread), rowBytesFor(columns));
}

Int TileSource::end() const {
  if (holdsKeys && state.keyEnd)
    return state.keyEnd;
  return state.arguments.extentOfCall(holdsKeys ? attn::Extent::Key
                                                : attn::Extent::Query);
}

void TileSource::keepInShared(int64_t offset) {
  nvvm::storeShared64(state.b, state.shared, offset, base);
  baseOffset = offset;
}

void TileSource::releaseBase() {
  if (baseOffset)
    base = {};
}

unsigned TileSource::Copy::size() const {
  return source->rows / source->state.plan.copyRows() *
         halfRows(source->columns);
}

Int TileSource::Copy::sharedAddress(Int thread) const {
  return place.base(source->own ? source->own->shared
                                : source->threadOffset(thread));
}

/// The half row of chunk `i` and the tile's row of thread 0.
static std::pair<int64_t, int64_t> halfAndRow(KernelState &state,
                                              int64_t columns, unsigned i) {
  int64_t halves = halfRows(columns);
  return {i % halves, i / halves * state.plan.copyRows()};
}

TileSource::Target TileSource::Copy::target(unsigned i, Int thread) const {
  auto [half, row] = halfAndRow(source->state, source->columns, i);
  // The last half row may be narrower: threads beyond it have nothing to do.
  int64_t chunks = rowChunks(source->columns) - half * (halfRowColumns / 8);
  Value takesPart;
  if (chunks < halfRowColumns / 8)
    takesPart = copyChunk(thread).lessThan(chunks);
  return {place.bytes + row * rowBytesFor(source->columns) +
              half * halfRowBytes,
          takesPart};
}

Value TileSource::Copy::isWhole() const {
  LocBuilder &b = source->state.b;
  if (source->holdsValues && source->state.padding)
    return arith::ConstantIntOp::create(b, b.getI1Type(), 0);
  return (firstRow + source->rows).atMost(source->end());
}

bool TileSource::Copy::hasWholeRows() const {
  return source->columns % halfRowColumns == 0;
}

Int TileSource::globalAddress(Int thread, Int firstRow) const {
  LocBuilder &b = state.b;
  Int address, row = firstRow;
  if (own) {
    address = own->global;
  } else {
    address =
        base ? base : Int(b, nvvm::loadShared64(b, state.shared, *baseOffset));
    address = address + (copyChunk(thread) * chunkBytes).wide();
    row = firstRow + copyRow(thread);
  }
  return address + rowOffset(row);
}

void TileSource::keepStep() {
  step = state.arguments.stride(tensor, 2) *
         (state.plan.elementBytes() * state.plan.copyRows());
}

void TileSource::beginWalk(Int firstRow) {
  Int thread = own ? state.thread.index : readThread(state.b, true).index;
  walk = globalAddress(thread, firstRow);
}

/// `copyRows` rows further.
Int TileSource::advance(Int global) const {
  // Opaque: LLVM would keep a register for each multiple of the stride.
  if (step)
    return {state.b, nvvm::opaqueAdd(state.b, global, step)};
  return {state.b,
          nvvm::opaqueMulAdd(state.b, state.arguments.stride(tensor, 2),
                             state.plan.elementBytes() * state.plan.copyRows(),
                             global)};
}

void TileSource::Copy::locate() {
  KernelState &state = source->state;
  // The thread's part is formed anew for every tile: kept, it would take
  // registers through the products.
  thread = source->own ? state.thread.index
                       : readThread(state.b, /*again=*/true).index;
  global = start     ? start
           : walking ? walking->walk
                     : source->globalAddress(thread, firstRow);
  if (!hasAllRows)
    rowsLeft = source->end() - (firstRow + copyRow(thread));
}

TileSource::Chunk TileSource::Copy::at(unsigned i) {
  KernelState &state = source->state;
  LocBuilder &b = state.b;
  auto [half, row] = halfAndRow(state, source->columns, i);
  if (!global)
    locate();
  else if (i != 0 && half == 0)
    global = source->advance(global);
  if (walking && i + 1 == size())
    walking->walk = source->advance(global);
  Value exists;
  if (!hasAllRows) {
    exists = Int::constant(b, row).lessThan(rowsLeft);
    if (half == 0 && source->holdsValues && state.padding)
      isUsed = state.padding->isUsed(b, firstRow + copyRow(thread) + row);
    if (isUsed)
      exists = arith::AndIOp::create(b, exists, isUsed);
  }
  // A chunk that only pads the row to 16 columns is zeros.
  int64_t before = half * (halfRowColumns / 8);
  int64_t real = source->realChunks - before;
  if (real < std::min<int64_t>(rowChunks(source->columns) - before,
                               halfRowColumns / 8)) {
    Value isReal = copyChunk(thread).lessThan(real);
    exists =
        exists ? arith::AndIOp::create(b, exists, isReal).getResult() : isReal;
  }
  return {global, half * halfRowBytes, exists};
}

void TileSource::Copy::issue(unsigned i) {
  LocBuilder &b = source->state.b;
  Chunk chunk = at(i);
  if (i == 0)
    sharedBase = sharedAddress(thread);
  Value bytes;
  if (chunk.exists)
    bytes = arith::SelectOp::create(
        b, chunk.exists, Int::constant(b, chunkBytes), Int::constant(b, 0));
  Target to = target(i, thread);
  Value takesPart = to.takesPart;
  if (takesPart && predicate)
    takesPart = arith::AndIOp::create(b, takesPart, predicate);
  else if (predicate)
    takesPart = predicate;
  nvvm::cpAsync16(b, sharedBase, to.offset, chunk.global, chunk.globalOffset,
                  bytes, takesPart);
}

void TileSource::Copy::issueAll() {
  for (unsigned i = 0, e = size(); i < e; ++i)
    issue(i);
}

void qm::sm80::waitForQueryRows(KernelState &state) {
  if (state.plan.queryRowBytes() != state.plan.valueRowBytes())
    nvvm::barrier(state.b);
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
  for (TileSource &source : sources)
    source.releaseBase();
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
  bool ofNext = tile >= sources.size();
  TileSource::Copy copy(sources[tile % sources.size()],
                        ofNext ? nextFirstKey : firstKey, target);
  if (inRun)
    copy.ofWholeTile(ofNext ? nextExists : Value());
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

void TileRing::finish() {
  // The last copies (zeros past the end) have landed. The query rows were there
  // before the first block, or before it was known that there is none.
  nvvm::cpAsyncWait(state.b, 0);
  waitForQueryRows(state);
}
