// The computing role as a graph of blocks:
//
//   begin ──> first ──> tile ──> head ──> full ⟲ ──┐      full, partial: one step, on a block without and with a mask
//                        ↑        ↑  └──> more <───┘      more: a partial block, or the end of the tile
//                        │        └─ partial <─┤
//                     border <────── end <─────┘          border: the last product of a tile in the shadow of the
//                                     └──> last           next tile's first scores
//
// With one query buffer there is no border: a tile is finished by `last` and the next one begins with `first`.
//
// What changes from tile to tile is an argument of `tile`, what changes from step to step one of head, full and more.
// Accumulators in flight never meet a branch: inside a step there is none but the rescaling's, between the issue of the
// scores and that of the value product.
#include "lowering/sm90/Consumer.h"

#include "lowering/sm90/Epilogue.h"
#include "lowering/sm90/KeyBlocks.h"
#include "lowering/sm90/Products.h"
#include "lowering/sm90/Scores.h"
#include "lowering/sm90/TileOrder.h"

using namespace mlir;
using namespace qm;
using namespace qm::sm90;

namespace {

/// What changes from step to step.
struct StepState {
  Fragment accumulator;
  Values p; ///< probabilities of the block under way, packed: their product is not issued yet
  Statistics statistics;
  Cursor cursor;  ///< of the block under way, in the rings of keys and of values
  KeyBlock next;  ///< the block after it
  KeyBlockList::Position position;

  /// Every value, in one order.
  Values flatten(LocBuilder &b) const;
  /// A state like this one from values in that order.
  StepState withValues(LocBuilder &b, ValueRange values) const;

private:
  template <class Visitor>
  void visit(LocBuilder &b, Visitor visitor);
};

template <class Visitor>
void StepState::visit(LocBuilder &b, Visitor visitor) {
  for (Values *values : {&accumulator.values, &p, &statistics.max,
                         &statistics.sum, &statistics.alpha, &position})
    for (Value &value : *values)
      visitor(value);
  visitor(statistics.grew);
  visitor(next.full);
  for (Int *integer : {&cursor.stage, &cursor.round, &next.firstKey}) {
    Value value = *integer;
    visitor(value);
    *integer = Int(b, value);
  }
}

Values StepState::flatten(LocBuilder &b) const {
  Values values;
  StepState copy = *this;
  copy.visit(b, [&](Value &value) { values.push_back(value); });
  return values;
}

StepState StepState::withValues(LocBuilder &b, ValueRange values) const {
  StepState copy = *this;
  unsigned index = 0;
  copy.visit(b, [&](Value &value) { value = values[index++]; });
  return copy;
}

/// A tile under way: what its steps need and how its end is written.
struct TileState {
  TileOrder::Place place;
  Cursor query;
  std::unique_ptr<Tile> tile;
  std::unique_ptr<ScoreChain> chain;
  std::unique_ptr<KeyBlockList> blocks;

  Values flatten() const {
    return {place.index, place.edge, query.stage, query.round,
            tile->batch, tile->head, tile->row};
  }
};

class Consumer {
public:
  Consumer(KernelState &state, Rings &rings, Block *exit)
      : state(state), b(state.b), rings(rings), exit(exit), order(state),
        products(state), turns(state),
        leader(state.thread.inGroup.equals(0)) {}

  void emit();

private:
  TileState beginTile(TileOrder::Place place, Cursor query);
  TileState tileFrom(ValueRange values);
  StepState beginBlocks(TileState &tile, Fragment &scores, KeyBlock block,
                        KeyBlockList::Position position, Cursor cursor);
  StepState firstBlock(TileState &tile, Cursor cursor);
  void step(TileState &tile, StepState &steps, bool masked);
  TileState border(TileState &tile, StepState &steps,
                   TileOrder::Place following);
  void lastProduct(TileState &tile, StepState &steps);

  Block *newBlock(ValueRange like);
  void jump(Block *to, ValueRange values) {
    cf::BranchOp::create(b, to, values);
  }
  void branch(Value condition, Block *yes, ValueRange yesValues, Block *no,
              ValueRange noValues) {
    cf::CondBranchOp::create(b, condition, yes, yesValues, no, noValues);
  }

  KernelState &state;
  LocBuilder &b;
  Rings &rings;
  Block *exit;
  TileOrder order;
  Products products;
  Turns turns;
  Value leader;
};

} // namespace

//===----------------------------------------------------------------------===//
// Tiles
//===----------------------------------------------------------------------===//

TileState Consumer::beginTile(TileOrder::Place place, Cursor query) {
  TileState tile{place, query, std::make_unique<Tile>(order.tile(place)), {}, {}};
  tile.chain = std::make_unique<ScoreChain>(state, *tile.tile);
  tile.blocks = std::make_unique<KeyBlockList>(state, *tile.tile);
  return tile;
}

/// The tile whose flattened values these are; its scalars are computed here.
TileState Consumer::tileFrom(ValueRange v) {
  auto integer = [&](unsigned i) { return Int(b, v[i]); };
  TileState tile{{integer(0), integer(1)},
                 {integer(2), integer(3)},
                 std::make_unique<Tile>(state, integer(4), integer(5), integer(6)),
                 {},
                 {}};
  tile.chain = std::make_unique<ScoreChain>(state, *tile.tile);
  tile.blocks = std::make_unique<KeyBlockList>(state, *tile.tile);
  return tile;
}

/// Softmax and probabilities of a tile's first block, whose scores are there. The accumulator starts at 0.
StepState Consumer::beginBlocks(TileState &tile, Fragment &scores,
                                KeyBlock block,
                                KeyBlockList::Position position,
                                Cursor cursor) {
  tile.chain->apply(scores, block.firstKey, /*masked=*/true);
  StepState steps{Fragment(state.plan.accumulatorRegisters()),
                  {},
                  startSoftmax(state, scores),
                  cursor,
                  block,
                  std::move(position)};
  return steps;
}

StepState Consumer::firstBlock(TileState &tile, Cursor cursor) {
  KeyBlockList::Position position;
  KeyBlock block = tile.blocks->first(position);
  rings.query.waitFull(tile.query);
  rings.key.waitFull(cursor);
  turns.enter();
  Fragment scores =
      products.issueScores(queryRows(state, tile.query), cursor);
  turns.leave();
  products.waitForScores(scores, /*accumulationUnderWay=*/false);
  rings.key.release(leader, cursor);
  StepState steps =
      beginBlocks(tile, scores, block, std::move(position), cursor);
  steps.p = packProbabilities(state, scores);
  llvm::fill(steps.accumulator.values, state.f32(0.0f));
  steps.next = tile.blocks->next(steps.position, block);
  return steps;
}

//===----------------------------------------------------------------------===//
// Steps
//===----------------------------------------------------------------------===//

void Consumer::step(TileState &tile, StepState &steps, bool masked) {
  Cursor before = steps.cursor;
  KeyBlock block = steps.next;
  steps.cursor = rings.key.next(before);
  rings.key.waitFull(steps.cursor);
  turns.enter();
  Fragment scores =
      products.issueScores(queryRows(state, tile.query), steps.cursor);
  rescale(state, steps.accumulator, steps.statistics); // in the shadow of the scores
  rings.value.waitFull(before);
  products.issueAccumulate(steps.accumulator, steps.p, before);
  turns.leave();
  products.waitForScores(scores, /*accumulationUnderWay=*/true);
  rings.key.release(leader, steps.cursor);
  // In the shadow of the accumulation and of the other consumer's products.
  tile.chain->apply(scores, block.firstKey, masked);
  stepSoftmax(state, scores, steps.statistics);
  products.waitForAll(steps.accumulator);
  rings.value.release(leader, before);
  steps.p = packProbabilities(state, scores); // P's registers are free only now
  steps.next = tile.blocks->next(steps.position, block);
}

/// From the last block of `tile` to the first of the tile at `following`, whose scores are issued ahead of the last
/// product. `steps` becomes the new tile's.
TileState Consumer::border(TileState &tile, StepState &steps,
                           TileOrder::Place following) {
  TileState then = beginTile(following, rings.query.next(tile.query));
  KeyBlockList::Position position;
  KeyBlock block = then.blocks->first(position);
  Cursor before = steps.cursor, cursor = rings.key.next(before);
  rings.query.waitFull(then.query);
  rings.key.waitFull(cursor);
  turns.enter();
  Fragment scores =
      products.issueScores(queryRows(state, then.query), cursor);
  rescale(state, steps.accumulator, steps.statistics);
  rings.value.waitFull(before);
  products.issueAccumulate(steps.accumulator, steps.p, before);
  turns.leave();
  products.waitForScores(scores, /*accumulationUnderWay=*/true);
  rings.key.release(leader, cursor);
  StepState begun =
      beginBlocks(then, scores, block, std::move(position), cursor);
  products.waitForAll(steps.accumulator);
  rings.value.release(leader, before);
  emitEpilogue(state, rings, leader, *tile.tile, tile.query,
               steps.accumulator, steps.statistics);
  begun.p = packProbabilities(state, scores);
  llvm::fill(begun.accumulator.values, state.f32(0.0f));
  begun.next = then.blocks->next(begun.position, block);
  steps = std::move(begun);
  return then;
}

/// The last product of a tile that no other tile follows in the pipeline, and its epilogue.
void Consumer::lastProduct(TileState &tile, StepState &steps) {
  turns.enter();
  rescale(state, steps.accumulator, steps.statistics);
  rings.value.waitFull(steps.cursor);
  products.issueAccumulate(steps.accumulator, steps.p, steps.cursor);
  turns.leave();
  products.waitForAll(steps.accumulator);
  rings.value.release(leader, steps.cursor);
  emitEpilogue(state, rings, leader, *tile.tile, tile.query,
               steps.accumulator, steps.statistics);
}

//===----------------------------------------------------------------------===//
// The graph
//===----------------------------------------------------------------------===//

/// A block at the end of the region with arguments like these values.
Block *Consumer::newBlock(ValueRange like) {
  OpBuilder::InsertionGuard guard(b);
  SmallVector<Location> locations(like.size(), b.getLoc());
  return b.createBlock(exit->getParent(), exit->getParent()->end(),
                       like.getTypes(), locations);
}

void Consumer::emit() {
  bool drains = state.plan.queryBuffers == 1;
  turns.start();
  TileOrder::Place start = order.first();
  Cursor query = Cursor::start(state), cursor = Cursor::start(state);
  Values begin{start.index, start.edge, query.stage,
               query.round, cursor.stage, cursor.round};
  Block *first = newBlock(begin);
  branch(order.exists(start), first, begin, exit, {});

  b.setInsertionPointToStart(first);
  auto argument = [&](unsigned i) { return Int(b, first->getArgument(i)); };
  TileState opening =
      beginTile({argument(0), argument(1)}, {argument(2), argument(3)});
  StepState opened = firstBlock(opening, {argument(4), argument(5)});
  Values tileValues = opening.flatten(), stepValues = opened.flatten(b);
  Values both = tileValues;
  llvm::append_range(both, stepValues);
  Block *tileBlock = newBlock(both), *head = newBlock(stepValues);
  Block *full = newBlock(stepValues), *more = newBlock(stepValues);
  Block *partial = newBlock({}), *end = newBlock({});
  jump(tileBlock, both);

  // tile, head: which kind of block comes next?
  b.setInsertionPointToStart(tileBlock);
  ValueRange arguments = tileBlock->getArguments();
  TileState tile = tileFrom(arguments.take_front(tileValues.size()));
  jump(head, arguments.drop_front(tileValues.size()));
  auto toStep = [&](const StepState &steps) {
    Values values = steps.flatten(b);
    Value isFull = arith::AndIOp::create(b, steps.next.exists(state),
                                         steps.next.full);
    branch(isFull, full, values, more, values);
  };
  b.setInsertionPointToStart(head);
  toStep(opened.withValues(b, head->getArguments()));

  b.setInsertionPointToStart(full);
  StepState steps = opened.withValues(b, full->getArguments());
  step(tile, steps, /*masked=*/false);
  toStep(steps);

  b.setInsertionPointToStart(more);
  const StepState atMore = opened.withValues(b, more->getArguments());
  branch(atMore.next.exists(state), partial, {}, end, {});

  b.setInsertionPointToStart(partial);
  steps = atMore;
  step(tile, steps, /*masked=*/true);
  jump(head, steps.flatten(b));

  b.setInsertionPointToStart(end);
  steps = atMore;
  TileOrder::Place following = order.next(tile.place);
  if (drains) {
    lastProduct(tile, steps);
    Cursor nextQuery = rings.query.next(tile.query);
    Cursor nextKey = rings.key.next(steps.cursor);
    branch(order.exists(following), first,
           Values{following.index, following.edge, nextQuery.stage,
                  nextQuery.round, nextKey.stage, nextKey.round},
           exit, {});
    return;
  }
  Block *borderBlock = newBlock({}), *last = newBlock({});
  branch(order.exists(following), borderBlock, {}, last, {});

  b.setInsertionPointToStart(borderBlock);
  TileState then = border(tile, steps, following);
  both = then.flatten();
  llvm::append_range(both, steps.flatten(b));
  jump(tileBlock, both);

  b.setInsertionPointToStart(last);
  steps = atMore;
  lastProduct(tile, steps);
  jump(exit, {});
}

void qm::sm90::emitConsumer(KernelState &state, Rings &rings, Block *exit) {
  Consumer(state, rings, exit).emit();
}
