// Copies of tiles by way of registers.
#include "lowering/sm75/CopyTiles.h"

#include "lowering/nvvm/Turing.h"
#include "lowering/sm80/Products.h"

#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace qm;
using namespace qm::sm75;
using sm80::Int;

nvvm::Values StagedCopy::read(bool whole) {
  nvvm::Values all;
  sm80::TileSource::Copy reader = copy;
  for (unsigned i = 0, e = copy.size(); i < e; ++i) {
    sm80::TileSource::Chunk chunk = reader.at(i);
    Value predicate = whole && copy.hasWholeRows() ? Value() : chunk.exists;
    // Threads past the row's last chunk would read the next row, or nothing.
    if (Value takesPart = copy.target(i, reader.lastThread()).takesPart)
      predicate = arith::AndIOp::create(state.b, predicate, takesPart);
    llvm::append_range(all,
                       nvvm::loadGlobal128(state.b, predicate, chunk.global,
                                           chunk.globalOffset));
  }
  if (address)
    all.push_back(reader.nextTile().get());
  return all;
}

void StagedCopy::load() {
  // Of a whole tile nothing is asked. The branch matters even where both sides
  // are alike: ptxas gives loads that end in another basic block a scoreboard
  // of their own. In one with the fragments of a product they share theirs, and
  // each product waits for global memory (3 % of the speed at head dim 64).
  nvvm::LocBuilder &b = state.b;
  SmallVector<Type> types(4 * copy.size(), b.getI32Type());
  if (address)
    types.push_back(b.getI64Type());
  auto op = scf::IfOp::create(b, types, copy.isWhole(), /*addThenBlock=*/true,
                              /*addElseBlock=*/true);
  OpBuilder::InsertionGuard guard(b);
  for (bool whole : {true, false}) {
    b.setInsertionPointToStart(whole ? op.thenBlock() : op.elseBlock());
    scf::YieldOp::create(b, read(whole));
  }
  words.assign(op.result_begin(), op.result_end());
  if (address)
    nextAddress = {b, words.pop_back_val()};
}

void StagedCopy::store() {
  // The address is formed anew: kept, it would take a register through the
  // product.
  Int thread = sm80::readThread(state.b, /*again=*/true).index;
  Int shared = copy.sharedAddress(thread);
  for (unsigned i = 0, e = copy.size(); i < e; ++i) {
    sm80::TileSource::Target target = copy.target(i, thread);
    nvvm::storeShared128(state.b, target.takesPart, shared, target.offset,
                         ArrayRef(words).slice(4 * i, 4));
  }
}

StagedTiles::StagedTiles(sm80::KernelState &state,
                         ArrayRef<attn::LoadTileOp> loads)
    : state(state) {
  sources.reserve(3);
  for (attn::LoadTileOp load : loads)
    sources.emplace_back(state, load, state.plan.tileN);
  attn::KeyBlocksOp loop = cast<attn::KeyBlocksOp>(loads[0]->getParentOp());
  bool hasMap = !loop.getBody().front().getOps<attn::MapOp>().empty();
  walkers = hasMap ? 0 : state.plan.residentQuerySteps ? 2 : 1;
  query = *loop->getBlock()->getOps<attn::LoadTileOp>().begin();
  sources.emplace_back(state, query, state.plan.tileM);
}

void StagedTiles::endRun() {
  walks.clear();
  for (sm80::TileSource &source : sources)
    source.forgetStep();
}

std::shared_ptr<StagedCopy> StagedTiles::makeCopy(unsigned index,
                                                  Int firstKey) {
  return std::make_shared<StagedCopy>(
      state, sources[index], firstKey,
      sm80::SharedPlace{state.plan.slotOffset(index), {}},
      index < walks.size() ? walks[index] : Int());
}

SmallVector<Value> StagedTiles::carried() const {
  SmallVector<Value> values;
  for (Int walk : walks)
    values.push_back(walk);
  return values;
}

void StagedTiles::setCarried(ValueRange values) {
  for (auto [walk, value] : llvm::zip_equal(walks, values))
    walk = {state.b, value};
}

void StagedTiles::beginRun(Int nextFirstKey) {
  if (walkers == 0)
    return;
  Int thread = sm80::readThread(state.b, /*again=*/true).index;
  for (unsigned index = 0; index < walkers; ++index) {
    if (state.plan.residentQuerySteps)
      sources[index].keepStep();
    walks.push_back(sources[index].globalAddress(thread, nextFirstKey));
  }
}

void StagedTiles::start(Int firstKey) {
  // All are read before the first is waited for.
  std::shared_ptr<StagedCopy> copies[] = {
      std::make_shared<StagedCopy>(
          state, sources[2], state.scalar(query.getRow()), sm80::SharedPlace()),
      makeCopy(0, firstKey), makeCopy(1, firstKey)};
  for (auto &copy : copies)
    copy->load();
  for (auto &copy : copies)
    copy->store();
  nvvm::barrier(state.b);
}

sm80::TileSupply::Visible StagedTiles::acquire(unsigned index, Int,
                                               Int nextFirstKey) {
  std::shared_ptr<StagedCopy> next;
  auto load = [this](StagedCopy &copy, unsigned index) {
    copy.load();
    if (index < walks.size())
      walks[index] = copy.getNextAddress();
  };
  if (index == 0) {
    next = makeCopy(0, nextFirstKey);
    load(*next, 0);
    values = makeCopy(1, nextFirstKey);
  } else {
    next = values;
  }
  // The barrier stands where the last fragment is on its way: the mma that are
  // left hide its wait and the stores.
  unsigned last = state.plan.groupsOf(index) - 1;
  unsigned read = last - std::min(state.plan.fragmentsAhead, last);
  auto hook = [this, index, next, last, read, load](unsigned group) {
    if (group == read) {
      nvvm::barrier(state.b);
      next->store();
    }
    if (group == last && index == 0)
      load(*values, 1);
  };
  return {{state.plan.slotOffset(index), {}}, hook};
}
