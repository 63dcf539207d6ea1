//===- KeyLoopEmitter.cpp - the key loop of a kernel ----------------------===//
//
// The part of KernelEmitter that emits attn.key_blocks. Operations on keys and
// values run once a block, before the loop over strips; the others once a
// strip.
//
//===----------------------------------------------------------------------===//

#include "lowering/cpu/KernelEmitter.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace qm;
using namespace qm::cpu;

using Values = VectorBuilder::Values;

LogicalResult KernelEmitter::emitKeyBlocks(attn::KeyBlocksOp loop) {
  Block &body = loop.getBody().front();
  for (auto [init, argument, result] :
       llvm::zip_equal(loop.getInits(), body.getArguments().drop_front(),
                       loop.getResults())) {
    auto *tile = find<QueryTile>(init);
    if (!tile || !init.hasOneUse())
      return unsupported(*loop, "a carried tile must begin as an attn.fill of "
                                "its own");
    QueryTile state = *tile;
    tiles[argument] = state;
    tiles[result] = state;
  }

  LogicalResult status = success();
  Value keys = slots->extent(b, attn::Extent::Key);
  Value tileN = b.i64(schedule.getTileN());
  std::pair<Value, Value> range = boundKeys(loop, keys);
  b.loop(range.first, range.second, schedule.getTileN(), [&](Value first) {
    firstKey = first;
    // Cut at the last key that the mask may keep, not only at Skv: a cache may
    // hold NaN past the length of its batch entry, and 0 * NaN is NaN.
    blockKeys = b.min(b.sub(range.second, first), tileN);
    if (loop.getClassify().empty()) {
      status = emitBlock(loop);
      return;
    }
    Kind kind = classify(loop, rows.first, rows.count, firstKey, blockKeys);
    b.when(kind.any, [&] { status = emitBlock(loop); });
  });
  return status;
}

/// The keys that the tile may need: the first rounded down to a block, so that
/// blocks are the same whatever the bounds; the end cut at Skv.
std::pair<Value, Value> KernelEmitter::boundKeys(attn::KeyBlocksOp loop,
                                                 Value keys) {
  if (loop.getBounds().empty())
    return {b.i64(0), keys};
  Value lastRow = b.sub(b.add(rows.first, rows.count), b.i64(1));
  SmallVector<Value> bounds = lowering::inlineRegion(
      b, loop.getBounds(), {b.toI32(rows.first), b.toI32(lastRow)}, scalars,
      environment);
  Value first = arith::MaxSIOp::create(b, b.toI64(bounds[0]), b.i64(0));
  Value excess = arith::RemUIOp::create(b, first, b.i64(schedule.getTileN()));
  Value end = b.add(b.toI64(bounds[1]), b.i64(1));
  return {b.sub(first, excess), b.min(end, keys)};
}

KernelEmitter::Kind KernelEmitter::classify(attn::KeyBlocksOp loop,
                                            Value firstRow, Value rowCount,
                                            Value key, Value keyCount) {
  auto last = [&](Value first, Value count) {
    return b.toI32(b.sub(b.add(first, count), b.i64(1)));
  };
  SmallVector<Value> kinds =
      lowering::inlineRegion(b, loop.getClassify(),
                             {b.toI32(firstRow), last(firstRow, rowCount),
                              b.toI32(key), last(key, keyCount)},
                             scalars, environment);
  return {kinds[0], kinds[1]};
}

bool KernelEmitter::isPerBlock(Operation &op) const {
  if (auto cast = dyn_cast<attn::CastOp>(op)) {
    Operation *source = cast.getTile().getDefiningOp();
    return source && isPerBlock(*source);
  }
  return isa<attn::LoadTileOp>(op);
}

LogicalResult KernelEmitter::emitBlock(attn::KeyBlocksOp loop) {
  Block &body = loop.getBody().front();
  scalars.map(body.getArgument(0), b.toI32(firstKey));
  for (Operation &op : body.without_terminator()) {
    b.setLoc(op.getLoc());
    if (emitScalar(op))
      continue;
    if (isPerBlock(op) && failed(emitPerBlock(op)))
      return failure();
  }
  LogicalResult status = success();
  // One strip's scores at a time: they are consumed before the next begins.
  Value scores =
      scratch->allocate(b, schedule.getTileN() * schedule.getMicroM());
  Value stripRows = b.i64(schedule.getMicroM());
  forEachStrip(b, rows, [&](Value index) {
    strip = index;
    Value before = b.mul(index, stripRows);
    Value count = b.min(b.sub(rows.count, before), stripRows);
    stripFirstRow = b.add(rows.first, before);
    skippedKeys = b.i64(0);
    stripKeys = blockKeys;
    full = nullptr;
    if (loop.getClassify().empty()) {
      status = emitStrip(loop, scores);
      return;
    }
    // A strip has fewer rows than the tile, so it needs fewer keys.
    Kind kind = classify(loop, stripFirstRow, count, firstKey, blockKeys);
    full = kind.all;
    b.when(kind.any, [&] {
      trimKeys(loop, count);
      status = emitStrip(loop, scores);
    });
  });
  return status;
}

/// Leaves out keys at both ends of a partial block that the mask keeps for no
/// row of the strip, a few at a time. They have p = 0: bits stay the same.
void KernelEmitter::trimKeys(attn::KeyBlocksOp loop, Value rowCount) {
  Type i64 = b.getI64Type();
  int64_t granule = 2 * schedule.getMicroN();
  Values kept = b.branch(
      full, {i64, i64}, [&] { return Values{b.i64(0), blockKeys}; },
      [&] {
        return b.loop(
            b.i64(0), blockKeys, granule, {blockKeys, b.i64(0)},
            [&](Value key, ValueRange range) {
              Value count = b.min(b.sub(blockKeys, key), b.i64(granule));
              Value any = classify(loop, stripFirstRow, rowCount,
                                   b.add(firstKey, key), count)
                              .any;
              Value begin = b.min(range[0], key), end = b.add(key, count);
              return Values{arith::SelectOp::create(b, any, begin, range[0]),
                            arith::SelectOp::create(b, any, end, range[1])};
            });
      });
  skippedKeys = kept[0];
  stripKeys = arith::MaxSIOp::create(b, b.sub(kept[1], kept[0]), b.i64(0));
}

ScalarRows KernelEmitter::stripRowsOf(const KeyTile &tile) {
  Value offset = b.mul(skippedKeys, tile.rows.stride);
  return {b.address(tile.rows.base, b.getF32Type(), offset), tile.rows.stride};
}

LogicalResult KernelEmitter::emitStrip(attn::KeyBlocksOp loop, Value scores) {
  Block &body = loop.getBody().front();
  // Running statistics are in registers while a strip is worked on.
  for (BlockArgument argument : body.getArguments().drop_front()) {
    if (cast<attn::TileType>(argument.getType()).getRank() != 1)
      continue;
    QueryTile state = std::get<QueryTile>(tiles[argument]);
    Values registers;
    for (int64_t v = 0; v < vectors; ++v)
      registers.push_back(
          b.loadVector(state.strip(b, strip).vectorAddress(b, int64_t(0), v),
                       b.getF32Type()));
    tiles[argument] = registers;
  }
  for (Operation &op : body.without_terminator()) {
    b.setLoc(op.getLoc());
    if (auto dot = dyn_cast<attn::DotOp>(op))
      tiles[dot.getResult()] = ScoreTile{{scores, vectors}, {}};
    bool done = !isa<attn::AttnDialect>(op.getDialect()) || isPerBlock(op) ||
                isa<attn::ExtentOp, attn::LoadOp>(op);
    if (!done && failed(emitPerStrip(op)))
      return failure();
  }
  return emitYield(loop);
}

LogicalResult KernelEmitter::emitPerBlock(Operation &op) {
  Type f32 = b.getF32Type();
  if (auto load = dyn_cast<attn::LoadTileOp>(op)) {
    const TensorSlots &source = slots->tensor(load.getSource());
    Value head = b.toI64(scalars.lookupOrDefault(load.getHead()));
    if (load.getRow() != load->getBlock()->getArgument(0))
      return unsupported(op, "a load in the key loop starts at the block's "
                             "first key");
    int64_t columns = load.getTile().getType().getColumns();
    const Sequence *sequence = slots->getSequence();
    Value batch = sequence ? sequence->batch
                           : b.toI64(scalars.lookupOrDefault(load.getBatch()));
    Value row = sequence ? b.add(sequence->firstKey, firstKey) : firstKey;
    ScalarRows memory{source.rowAddress(b, batch, head, row),
                      source.rowStride()};
    KeyTile tile{memory, source.elementType, columns};
    bool hasPadding = paddingCondition && load.getSource() == kernel.getV();
    if (!source.elementType.isF32() || hasPadding) {
      Value copy = scratch->allocate(b, schedule.getTileN() * columns);
      emitConvertKeys(b, memory, source.elementType, source.elementType,
                      blockKeys, columns, copy);
      tile.rows = {copy, b.i64(columns)};
      if (hasPadding)
        clearPadding(copy, columns);
    }
    tiles[load.getTile()] = tile;
    return success();
  }
  auto cast = mlir::cast<attn::CastOp>(op);
  KeyTile tile = *find<KeyTile>(cast.getTile());
  Type type = cast.getResult().getType().getElementType();
  if (!type.isF32() && type != tile.valueType) {
    Value copy = scratch->allocate(b, schedule.getTileN() * tile.columns);
    emitConvertKeys(b, tile.rows, f32, type, blockKeys, tile.columns, copy);
    tile.rows = {copy, b.i64(tile.columns)};
    tile.valueType = type;
  }
  tiles[cast.getResult()] = tile;
  return success();
}

/// Zeros in the rows of values that are padding: what they hold, NaN perhaps,
/// would meet probabilities of 0.
void KernelEmitter::clearPadding(Value valueRows, int64_t columns) {
  Type f32 = b.getF32Type();
  b.loop(b.i64(0), blockKeys, 1, [&](Value row) {
    Value isUsed = lowering::inlineRegion(b, *paddingCondition,
                                          b.toI32(b.add(firstKey, row)),
                                          scalars, environment)
                       .front();
    Value isPadding = arith::CmpIOp::create(
        b, arith::CmpIPredicate::eq, isUsed,
        arith::ConstantIntOp::create(b, b.getI1Type(), 0));
    b.when(isPadding, [&] {
      Value first = b.address(valueRows, f32, b.mul(row, b.i64(columns)));
      Value zero = arith::ConstantOp::create(b, b.getF32FloatAttr(0.0f));
      b.loop(b.i64(0), b.i64(columns), 1, [&](Value column) {
        b.storeScalar(zero, b.address(first, f32, column));
      });
    });
  });
}

LogicalResult KernelEmitter::emitPerStrip(Operation &op) {
  if (auto dot = dyn_cast<attn::DotOp>(op)) {
    auto *q = find<QueryTile>(dot.getLhs());
    auto *k = find<KeyTile>(dot.getRhs());
    auto *scores = find<ScoreTile>(dot.getResult());
    if (!q || !k)
      return unsupported(op, "it multiplies query rows by the block's keys");
    emitScores(b, stripRowsOf(*k), q->strip(b, strip), scores->tile, stripKeys,
               q->columns, schedule.getMicroN());
    return success();
  }
  if (isa<attn::MapOp, attn::MaskOp, attn::CastOp>(op)) {
    if (tiles.contains(op.getResult(0)))
      return success(); // a cast of P, done as P was stored
    auto *scores = find<ScoreTile>(op.getOperand(0));
    if (!scores || !op.getOperand(0).hasOneUse())
      return unsupported(op, "it needs scores that nothing else reads");
    ScoreTile changed = *scores;
    changed.pending.push_back(&op);
    tiles[op.getResult(0)] = changed;
    return success();
  }
  if (auto softmax = dyn_cast<attn::OnlineSoftmaxOp>(op))
    return emitSoftmax(softmax);
  if (auto accumulate = dyn_cast<attn::AccumulateOp>(op)) {
    auto *p = find<ScoreTile>(accumulate.getP());
    auto *v = find<KeyTile>(accumulate.getV());
    auto *acc = find<QueryTile>(accumulate.getAcc());
    auto *alpha = find<StripStat>(accumulate.getAlpha());
    if (!p || !p->pending.empty() || !v || !acc || !alpha ||
        !accumulate.getAcc().hasOneUse())
      return unsupported(op, "it adds probabilities times values to a carried "
                             "accumulator");
    emitAccumulate(b, stripRowsOf(*v), p->tile, acc->strip(b, strip), *alpha,
                   stripKeys, v->columns, schedule.getMicroN());
    QueryTile result = *acc;
    tiles[accumulate.getResult()] = result;
    return success();
  }
  return unsupported(op, "it has no meaning inside the key loop");
}

LogicalResult KernelEmitter::emitSoftmax(attn::OnlineSoftmaxOp op) {
  auto *scores = find<ScoreTile>(op.getScores());
  auto *max = find<StripStat>(op.getMax());
  auto *sum = find<StripStat>(op.getSum());
  if (!scores || !max || !sum || !op.getScores().hasOneUse())
    return unsupported(*op,
                       "it needs scores that nothing else reads and carried "
                       "statistics");
  // Copies: the table of tiles grows below.
  auto [tile, pending] = *scores;
  Values oldMax = *max, oldSum = *sum;
  // Casts of P that are its only readers happen as P is stored.
  SmallVector<Type> pTypes;
  for (Value p = op.getP(); p.hasOneUse();) {
    auto cast = dyn_cast<attn::CastOp>(*p.user_begin());
    if (!cast)
      break;
    p = cast.getResult();
    pTypes.push_back(cast.getResult().getType().getElementType());
    tiles[p] = ScoreTile{tile, {}};
  }
  ScoreChain chain{pending, &scalars, &environment};
  ScorePlace place{b.toI32(stripFirstRow),
                   b.toI32(b.add(firstKey, skippedKeys)), stripKeys};
  Values newMax = emitScorePass(b, chain, tile, place, full, oldMax);
  SoftmaxStep step =
      emitProbabilityPass(b, tile, stripKeys, oldMax, newMax, oldSum,
                          getExp2Scale(op.getExp2ScaleAttr()), pTypes);
  tiles[op.getNewMax()] = newMax;
  tiles[op.getNewSum()] = step.sum;
  tiles[op.getAlpha()] = step.alpha;
  tiles[op.getP()] = ScoreTile{tile, {}};
  return success();
}

LogicalResult KernelEmitter::emitYield(attn::KeyBlocksOp loop) {
  Block &body = loop.getBody().front();
  Operation *yield = body.getTerminator();
  for (auto [argument, result, value] :
       llvm::zip_equal(body.getArguments().drop_front(), loop.getResults(),
                       yield->getOperands())) {
    QueryTile state = std::get<QueryTile>(tiles[result]);
    if (auto *registers = find<StripStat>(value)) {
      for (auto [v, vector] : llvm::enumerate(*registers))
        b.storeVector(vector,
                      state.strip(b, strip).vectorAddress(b, int64_t(0), v));
      continue;
    }
    auto *tile = find<QueryTile>(value);
    if (!tile || tile->base != state.base)
      return unsupported(*yield, "an accumulator must be carried in its own "
                                 "place");
  }
  return success();
}
