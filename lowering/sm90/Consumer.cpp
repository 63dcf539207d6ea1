// The computing role as a graph of blocks:
//
//   begin    -> first, exit
//   first    -> tile            a tile's first block, nothing else under way
//   tile     -> head
//   head     -> full, more      which kind of block comes next?
//   full     -> full, more      a step on a block without a mask
//   more     -> partial, end
//   partial  -> head            a step on a block with a mask
//   end      -> border, last
//   border   -> tile
//   last     -> first, exit
//
// With lengths there are tiles of which this consumer has no rows (IdleTile):
// begin, last and idle go to `idle` instead of `first`, and `end` goes to
// `last` before one.
//
// border: the last product of a tile in the shadow of the next tile's first
// scores; under a mask that block counts as partial, which most are. last: the
// last product of a tile that is finished alone, because there is no next one
// or no second query buffer; the next tile then begins with `first`.
//
// What changes from tile to tile is an argument of `tile`, what changes from
// step to step one of head, full and more. Accumulators in flight never meet a
// branch that touches them: ptxas would wait for them there.
#include "lowering/sm90/Consumer.h"

#include "lowering/sm90/Epilogue.h"
#include "lowering/sm90/IdleTile.h"
#include "lowering/sm90/KeyBlocks.h"
#include "lowering/sm90/Padding.h"
#include "lowering/sm90/Products.h"
#include "lowering/sm90/Scores.h"

using namespace mlir;
using namespace qm;
using namespace qm::sm90;

namespace {

/// What changes from step to step.
struct StepState {
  Fragment accumulator;
  Values p; ///< probabilities of the block under way, packed: their product is
            ///< not issued yet
  Statistics statistics;
  Cursor cursor; ///< of the block under way, in the rings of keys and of values
  Int present;   ///< of its values, the rows that may be used; null: all
  Int padded;    ///< its first key if keys of it may be padding, else negative;
                 ///< null: none is in this kernel
  KeyBlock next; ///< the block after it
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
  for (Values *values :
       {&accumulator.values, &p, &statistics.max, &statistics.offset,
        &statistics.sum, &statistics.alpha, &position})
    for (Value &value : *values)
      visitor(value);
  visitor(statistics.grew);
  visitor(next.full);
  for (Int *integer :
       {&cursor.stage, &cursor.round, &present, &padded, &next.firstKey}) {
    if (!*integer)
      continue;
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
  Cursor query, queue; ///< buffer of its Q; entry of the tile after it
  std::unique_ptr<Tile> tile;
  KeyBounds bounds;
  std::unique_ptr<ScoreChain> chain;
  std::unique_ptr<KeyBlockList> blocks;

  Values flatten(KernelState &state) const {
    Values values{query.stage, query.round, queue.stage, queue.round};
    llvm::append_range(values, tile->flatten());
    llvm::append_range(values, bounds.flatten(state));
    return values;
  }
};

class Consumer {
public:
  Consumer(KernelState &state, Rings &rings, const TileQueue &queue,
           Block *exit)
      : state(state), b(state.b), rings(rings), queue(queue), exit(exit),
        order(state), products(state), turns(state),
        leader(state.thread.inGroup.equals(0)),
        consumer(state.thread.warpgroup - 1) {}

  void emit();

private:
  Upcoming following(const TileState &tile, const Upcoming &like);
  TileState open(Cursor query, Cursor queue, TilePlace place, KeyBounds bounds);
  void awaitQuery(const TileState &tile);
  TileState tileFrom(ValueRange values);
  StepState beginBlocks(TileState &tile, BlockScores &scores, KeyBlock block,
                        KeyBlock next, KeyBlockList::Position position,
                        Cursor cursor, bool masked, Midway midway);
  StepState firstBlock(TileState &tile, const Upcoming &from, Cursor cursor);
  void step(TileState &tile, StepState &steps, bool masked);
  TileState border(TileState &tile, StepState &steps, const Upcoming &upcoming,
                   bool masked);
  void lastProduct(TileState &tile, StepState &steps);
  Int paddedBlock(KeyBlock block, bool masked);
  Value bordersOn(const Upcoming &upcoming);
  Block *idleBlock(Block *first, ValueRange like);
  void goTo(const Upcoming &upcoming, ValueRange values, Value owesTurn,
            Block *first, Block *idle);
  void issueAccumulate(TileState &tile, StepState &steps, Cursor values);

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
  const TileQueue &queue;
  Block *exit;
  TileOrder order;
  Products products;
  Turns turns;
  Value leader;
  Int consumer;
};

} // namespace

//===----------------------------------------------------------------------===//
// Tiles
//===----------------------------------------------------------------------===//

/// The tile after `tile`. Its entry has been in the queue since the last keys
/// of `tile` were asked for.
Upcoming Consumer::following(const TileState &tile, const Upcoming &like) {
  return queue.take(tile.queue, like);
}

/// What a tile's steps need; its scalars are computed here.
TileState Consumer::open(Cursor query, Cursor queueEntry, TilePlace place,
                         KeyBounds bounds) {
  TileState tile{query,  queueEntry, std::make_unique<Tile>(state, place),
                 bounds, {},         {}};
  tile.chain = std::make_unique<ScoreChain>(state, *tile.tile);
  tile.blocks = std::make_unique<KeyBlockList>(state, *tile.tile, bounds);
  return tile;
}

TileState Consumer::tileFrom(ValueRange v) {
  auto integer = [&](unsigned i) { return Int(b, v[i]); };
  unsigned size = TilePlace::size(state);
  return open({integer(0), integer(1)}, {integer(2), integer(3)},
              TilePlace::from(state, v.slice(4, size)),
              KeyBounds::from(state, v.drop_front(4 + size)));
}

/// Waits for the tile's query rows. Those of the next sequence become zeros: a
/// row must not depend on what lies behind its sequence, be it through a vote.
void Consumer::awaitQuery(const TileState &tile) {
  rings.query.waitFull(tile.query);
  if (!tile.tile->sequence)
    return;
  const Plan &plan = state.plan;
  Int left = rowsLeft(*tile.tile, consumer);
  emitIf(b, left.lessThan(consumerRows), [&] {
    clearRows(state,
              {queryRows(state, tile.query, consumer), consumerRows,
               plan.headDim, plan.tileM * panelRowBytes},
              left, consumer);
  });
}

/// Softmax of a tile's first block, whose scores are under way; `midway` waits
/// for the product that is, too. The accumulator starts at 0.
StepState Consumer::beginBlocks(TileState &tile, BlockScores &scores,
                                KeyBlock block, KeyBlock next,
                                KeyBlockList::Position position, Cursor cursor,
                                bool masked, Midway midway) {
  products.waitForScores(scores.elements,
                         /*accumulationUnderWay=*/bool(midway));
  rings.key.release(leader, cursor);
  tile.chain->apply(scores, block.firstKey, masked);
  return {Fragment(state.plan.accumulatorRegisters()),
          {},
          startSoftmax(state, scores, midway),
          cursor,
          tile.blocks->presentRows(block),
          paddedBlock(block, masked),
          next,
          std::move(position)};
}

/// The first block of a tile before which nothing is under way.
StepState Consumer::firstBlock(TileState &tile, const Upcoming &from,
                               Cursor cursor) {
  awaitQuery(tile);
  rings.key.waitFull(cursor);
  turns.enter();
  BlockScores scores(
      products.issueScores(queryRows(state, tile.query, consumer), cursor));
  turns.leave();
  tile.chain->begin(from.block.firstKey, /*masked=*/true);
  tile.chain->findKept(from.block.firstKey, /*masked=*/true);
  KeyBlockList::Position position = from.position;
  KeyBlock next = tile.blocks->next(position, from.block);
  StepState steps =
      beginBlocks(tile, scores, from.block, next, position, cursor,
                  /*masked=*/true, /*midway=*/nullptr);
  steps.p = packProbabilities(state, scores.elements);
  llvm::fill(steps.accumulator.values, state.f32(0.0f));
  return steps;
}

//===----------------------------------------------------------------------===//
// Steps
//===----------------------------------------------------------------------===//

/// A full block has no padding: the mask keeps all of it.
Int Consumer::paddedBlock(KeyBlock block, bool masked) {
  if (!state.program.paddingCondition)
    return {};
  return masked ? block.firstKey : state.i32(-1);
}

/// Issues the product of the block under way, whose values are in the buffer at
/// `values`. A probability of 0 times a NaN past a captured length, or in
/// padding, would be NaN: what lies there becomes 0 before. All consumers write
/// the same zeros.
void Consumer::issueAccumulate(TileState &tile, StepState &steps,
                               Cursor values) {
  rings.value.waitFull(values);
  if (steps.present)
    emitIf(b, steps.present.lessThan(state.plan.tileN), [&] {
      clearRows(state,
                {rings.valueBuffer(values), state.plan.tileN,
                 state.plan.valueDim, state.plan.tileN * panelRowBytes},
                steps.present, consumer);
    });
  if (steps.padded)
    emitIf(b, state.i32(-1).lessThan(steps.padded), [&] {
      clearPadding(state, *tile.tile,
                   {rings.valueBuffer(values), state.plan.tileN,
                    state.plan.valueDim, state.plan.tileN * panelRowBytes},
                   steps.padded, consumer);
    });
  products.issueAccumulate(steps.accumulator, steps.p, values);
}

void Consumer::step(TileState &tile, StepState &steps, bool masked) {
  Cursor before = steps.cursor;
  KeyBlock block = steps.next;
  steps.cursor = rings.key.next(before);
  // What the chain loads is there when the scores are.
  bool ahead = tile.chain->beginsAhead(masked);
  if (ahead)
    tile.chain->begin(block.firstKey, masked);
  rings.key.waitFull(steps.cursor);
  turns.enter();
  BlockScores scores(products.issueScores(
      queryRows(state, tile.query, consumer), steps.cursor));
  // In the shadow of the scores: the matrix unit takes the second product when
  // the first is done. Without turns other consumers fill it, and what waits
  // less for registers is better.
  rescale(state, steps.accumulator, steps.statistics);
  KeyBlock next;
  auto lookAhead = [&] {
    if (!ahead)
      tile.chain->begin(block.firstKey, masked);
    tile.chain->findKept(block.firstKey, masked);
    next = tile.blocks->next(steps.position, block);
  };
  if (state.plan.pingPong)
    lookAhead();
  issueAccumulate(tile, steps, before);
  turns.leave();
  if (!state.plan.pingPong)
    lookAhead();
  steps.present = tile.blocks->presentRows(block);
  steps.padded = paddedBlock(block, masked);
  steps.next = next;
  products.waitForScores(scores.elements, /*accumulationUnderWay=*/true);
  rings.key.release(leader, steps.cursor);
  // In the shadow of the accumulation and of the other consumer's products.
  tile.chain->apply(scores, block.firstKey, masked,
                    /*late=*/keepsReference(state));
  stepSoftmax(state, scores, steps.statistics, [&] {
    products.waitForAll(steps.accumulator);
    rings.value.release(leader, before);
  });
  steps.p = packProbabilities(
      state, scores.elements); // P's registers are free only now
}

/// From the last block of `tile` to the first of the upcoming one, whose scores
/// are issued ahead of the last product. `steps` becomes the new tile's.
TileState Consumer::border(TileState &tile, StepState &steps,
                           const Upcoming &upcoming, bool masked) {
  TileState then = open(rings.query.next(tile.query), queue.next(tile.queue),
                        upcoming.place, upcoming.bounds);
  Cursor before = steps.cursor, cursor = rings.key.next(before);
  awaitQuery(then);
  rings.key.waitFull(cursor);
  turns.enter();
  BlockScores scores(
      products.issueScores(queryRows(state, then.query, consumer), cursor));
  rescale(state, steps.accumulator, steps.statistics);
  Values inverse;
  KeyBlockList::Position position = upcoming.position;
  KeyBlock next;
  auto lookAhead = [&] {
    inverse = finishRows(state, *tile.tile, steps.statistics);
    then.chain->begin(upcoming.block.firstKey, masked);
    then.chain->findKept(upcoming.block.firstKey, masked);
    next = then.blocks->next(position, upcoming.block);
  };
  if (state.plan.pingPong)
    lookAhead();
  issueAccumulate(tile, steps, before);
  turns.leave();
  if (!state.plan.pingPong)
    lookAhead();
  StepState begun = beginBlocks(
      then, scores, upcoming.block, next, position, cursor, masked, [&] {
        products.waitForAll(steps.accumulator);
        rings.value.release(leader, before);
        stageTile(state, tile.query, steps.accumulator, inverse);
      });
  begun.p = packProbabilities(state, scores.elements);
  announceTile(state, tile.query);
  llvm::fill(begun.accumulator.values, state.f32(0.0f));
  steps = std::move(begun);
  return then;
}

/// The last product of a tile that no other tile follows in the pipeline, and
/// its epilogue.
void Consumer::lastProduct(TileState &tile, StepState &steps) {
  turns.enter();
  rescale(state, steps.accumulator, steps.statistics);
  issueAccumulate(tile, steps, steps.cursor);
  turns.leave();
  Values inverse = finishRows(state, *tile.tile, steps.statistics);
  products.waitForAll(steps.accumulator);
  rings.value.release(leader, steps.cursor);
  stageTile(state, tile.query, steps.accumulator, inverse);
  announceTile(state, tile.query);
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

/// Whether the scores of the next tile are issued ahead of a tile's last
/// product, in one turn.
Value Consumer::bordersOn(const Upcoming &upcoming) {
  if (state.plan.queryBuffers == 1)
    return state.boolean(false);
  if (state.program.hasMask())
    return upcoming.exists;
  return arith::AndIOp::create(b, upcoming.exists, upcoming.block.full);
}

/// From a tile that was finished alone to the next one, whose cursors and
/// description are `values`. Where this consumer has no rows of it the turn of
/// its first scores is passed if it is owed.
void Consumer::goTo(const Upcoming &upcoming, ValueRange values, Value owesTurn,
                    Block *first, Block *idle) {
  if (!idle)
    return branch(upcoming.exists, first, values, exit, {});
  Block *comes = newBlock({});
  branch(upcoming.exists, comes, {}, exit, {});
  b.setInsertionPointToStart(comes);
  Values toIdle(values);
  toIdle.push_back(owesTurn);
  branch(hasRows(state, upcoming.place, consumer), first, values, idle, toIdle);
}

/// Passes a tile by. Its arguments are those of `first`, and whether a turn is
/// owed before.
Block *Consumer::idleBlock(Block *first, ValueRange like) {
  OpBuilder::InsertionGuard guard(b);
  Values arguments(like);
  arguments.push_back(state.boolean(false));
  Block *idle = newBlock(arguments);
  b.setInsertionPointToStart(idle);
  ValueRange v = idle->getArguments();
  passTurn(state, v.back());
  Upcoming current = Upcoming::from(state, v.drop_front(6).drop_back());
  Cursor query{{b, v[0]}, {b, v[1]}}, entry{{b, v[2]}, {b, v[3]}};
  Cursor key = passTile(state, rings, current, query, {{b, v[4]}, {b, v[5]}});
  Upcoming upcoming = queue.take(entry, current);
  // The turn of the last product, unless the others use it for the next tile's
  // first scores, too.
  Value alone =
      arith::XOrIOp::create(b, bordersOn(upcoming), state.boolean(true));
  passTurn(state, alone);
  query = rings.query.next(query);
  entry = queue.next(entry);
  Values next{query.stage, query.round, entry.stage,
              entry.round, key.stage,   key.round};
  llvm::append_range(next, upcoming.flatten(state));
  goTo(upcoming, next, state.boolean(true), first, idle);
  return idle;
}

void Consumer::emit() {
  turns.start();
  auto concat = [](ValueRange a, ValueRange rest) {
    Values all(a);
    llvm::append_range(all, rest);
    return all;
  };
  auto flatten = [](Cursor query, Cursor queue, Cursor key) {
    return Values{query.stage, query.round, queue.stage,
                  queue.round, key.stage,   key.round};
  };
  Cursor start = Cursor::start(state);
  Upcoming opening = Upcoming::lookUp(state, order, order.first());
  Values begin = concat(flatten(start, start, start), opening.flatten(state));
  Block *first = newBlock(begin);
  Block *idle = state.plan.hasLengths ? idleBlock(first, begin) : nullptr;
  goTo(opening, begin, state.boolean(true), first, idle);

  b.setInsertionPointToStart(first);
  auto cursor = [&](unsigned i) {
    return Cursor{{b, first->getArgument(i)}, {b, first->getArgument(i + 1)}};
  };
  Upcoming from =
      Upcoming::from(state, ValueRange(first->getArguments()).drop_front(6));
  TileState opened = open(cursor(0), cursor(2), from.place, from.bounds);
  StepState begun = firstBlock(opened, from, cursor(4));
  Values tileValues = opened.flatten(state), stepValues = begun.flatten(b);
  Values both = concat(tileValues, stepValues);
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
    Value isFull =
        arith::AndIOp::create(b, steps.next.exists(state), steps.next.full);
    branch(isFull, full, values, more, values);
  };
  b.setInsertionPointToStart(head);
  toStep(begun.withValues(b, head->getArguments()));

  b.setInsertionPointToStart(full);
  StepState steps = begun.withValues(b, full->getArguments());
  step(tile, steps, /*masked=*/false);
  toStep(steps);

  b.setInsertionPointToStart(more);
  const StepState atMore = begun.withValues(b, more->getArguments());
  branch(atMore.next.exists(state), partial, {}, end, {});

  b.setInsertionPointToStart(partial);
  steps = atMore;
  step(tile, steps, /*masked=*/true);
  jump(head, steps.flatten(b));

  // end: with a second query buffer the border to a tile that begins with a
  // full block, under a mask with any block; else the tile is finished alone.
  b.setInsertionPointToStart(end);
  steps = atMore;
  Upcoming upcoming = following(tile, opening);
  Block *last = newBlock({});
  if (idle) {
    Block *comes = newBlock({}), *present = newBlock({});
    branch(upcoming.exists, comes, {}, last, {});
    b.setInsertionPointToStart(comes);
    branch(hasRows(state, upcoming.place, consumer), present, {}, last, {});
    b.setInsertionPointToStart(present);
  }
  auto addBorder = [&](bool masked) {
    OpBuilder::InsertionGuard guard(b);
    Block *block = newBlock({});
    b.setInsertionPointToStart(block);
    StepState current = atMore;
    TileState then = border(tile, current, upcoming, masked);
    jump(tileBlock, concat(then.flatten(state), current.flatten(b)));
    return block;
  };
  if (state.plan.queryBuffers == 1) {
    jump(last, {});
  } else {
    bool masked = state.program.hasMask();
    branch(bordersOn(upcoming), addBorder(masked), {}, last, {});
  }

  b.setInsertionPointToStart(last);
  lastProduct(tile, steps);
  Values next =
      concat(flatten(rings.query.next(tile.query), queue.next(tile.queue),
                     rings.key.next(steps.cursor)),
             upcoming.flatten(state));
  Value owesTurn =
      idle ? arith::XOrIOp::create(b, bordersOn(upcoming), state.boolean(true))
                 .getResult()
           : Value();
  goTo(upcoming, next, owesTurn, first, idle);
}

void qm::sm90::emitConsumer(KernelState &state, Rings &rings,
                            const TileQueue &queue, Block *exit) {
  Consumer(state, rings, queue, exit).emit();
}
