// What each operation of a kernel becomes. The loop over key blocks is in
// KeyBlockLoop.cpp.
#include "lowering/sm80/KernelEmitter.h"

#include "lowering/gpu/MaskWords.h"
#include "lowering/sm80/Epilogue.h"

#include "llvm/ADT/TypeSwitch.h"

#include <limits>

using namespace mlir;
using namespace qm;
using namespace qm::sm80;
using diag::Id;

//===----------------------------------------------------------------------===//
// Operations
//===----------------------------------------------------------------------===//

LogicalResult KernelEmitter::emitBlock(Block &block) {
  for (Operation &op : block)
    if (!isa<attn::YieldOp>(op) && failed(emit(op)))
      return failure();
  return success();
}

LogicalResult KernelEmitter::emit(Operation &op) {
  b.setLoc(op.getLoc());
  return TypeSwitch<Operation *, LogicalResult>(&op)
      .Case<attn::TilePositionOp, attn::LoadTileOp, attn::FillOp,
            attn::KeyBlocksOp, attn::DotOp, attn::MapOp, attn::MaskOp,
            attn::OnlineSoftmaxOp, attn::CastOp, attn::AccumulateOp,
            attn::NormalizeOp, attn::StoreTileOp>(
          [&](auto known) { return emit(known); })
      .Case([&](attn::ExtentOp extent) {
        state.scalars.map(extent.getResult(),
                          state.arguments.extentOfCall(extent.getKind()).get());
        return success();
      })
      .Default([&](Operation *scalar) -> LogicalResult {
        // Uniform arithmetic, such as the head of K and V.
        if (std::optional<std::string> why = whyUnsupported(*scalar))
          return diag::error(scalar, Id::OperationNotSupported) << *why;
        b.clone(*scalar, state.scalars);
        return success();
      });
}

LogicalResult KernelEmitter::emit(attn::TilePositionOp op) {
  state.scalars.map(op.getBatch(), state.tile.batch.get());
  state.scalars.map(op.getHead(), state.tile.head.get());
  state.scalars.map(op.getRow(), state.tile.row.get());
  return success();
}

LogicalResult KernelEmitter::emit(attn::LoadTileOp op) {
  auto loop = dyn_cast<attn::KeyBlocksOp>(op->getParentOp());
  if (!loop) {
    if (query)
      return unsupported(op) << "more than one tile is loaded before the loop";
    query = std::make_unique<QueryFragments>(state);
    state.machine.loadQuery(state, op);
    set(op.getTile(), SharedTile{op, std::nullopt});
    return success();
  }
  auto loads =
      llvm::to_vector(loop.getBody().front().getOps<attn::LoadTileOp>());
  set(op.getTile(),
      SharedTile{op, unsigned(llvm::find(loads, op) - loads.begin())});
  return success();
}

LogicalResult KernelEmitter::emit(attn::FillOp op) {
  set(op.getTile(), Filled{op.getValue().convertToFloat()});
  return success();
}

LogicalResult KernelEmitter::emit(attn::DotOp op) {
  auto *lhs = get<SharedTile>(op.getLhs(), op);
  auto *rhs = get<SharedTile>(op.getRhs(), op);
  if (!lhs || !rhs)
    return failure();
  if (lhs->ringIndex || rhs->ringIndex != 0u)
    return unsupported(op) << "scores are the query tile times the first tile "
                              "that the loop loads";
  TileSupply::Visible keys =
      supply->acquire(0, block.firstKey, nextBlock.firstKey);
  set(op.getResult(),
      emitScores(state, *query, keys, std::exchange(firstFragments, {})));
  return success();
}

/// The row (`rows`) or column indices of a thread's elements in a tile that
/// begins at `corner`.
static SmallVector<Value> indices(KernelState &state, const Thread &thread,
                                  Value corner, unsigned count, bool rows) {
  Int first = state.scalar(corner);
  SmallVector<Value> values;
  for (unsigned i = 0; i < count; ++i)
    values.push_back(first + (rows ? state.rowOfTile(thread, i)
                                   : state.columnOfTile(thread, i)));
  return values;
}

LogicalResult KernelEmitter::emit(attn::MapOp op) {
  auto *source = get<Accumulator>(op.getTile(), op);
  if (!source)
    return failure();
  Accumulator result = *source;
  // Read again: coordinates that only this chain needs would take registers
  // through the products.
  Thread thread = readThread(b, /*again=*/true);
  auto rows = indices(state, thread, op.getRow(), 2 * result.rowTiles, true);
  auto columns =
      indices(state, thread, op.getColumn(), 2 * result.groups, false);
  ElementRegion &region = *regions[op];
  region.startBlock();
  for (auto [e, value] : llvm::enumerate(result.values)) {
    unsigned row = result.rowOf(e), column = result.columnOf(e);
    value = region.emit(b, {value, rows[row], columns[column]}, row, column)
                .front();
  }
  set(op.getResult(), std::move(result));
  return success();
}

/// i1: the thread's column `column` of the block is a key.
Value KernelEmitter::isPresent(const Thread &thread, unsigned column) {
  Int key = block.firstKey + state.columnOfTile(thread, column);
  return key.lessThan(state.arguments.extentOfCall(attn::Extent::Key));
}

static Value negate(LocBuilder &b, Value condition) {
  return arith::XOrIOp::create(
      b, condition, arith::ConstantIntOp::create(b, b.getI1Type(), 1));
}

LogicalResult KernelEmitter::emit(attn::MaskOp op) {
  auto *source = get<Accumulator>(op.getTile(), op);
  if (!source)
    return failure();
  Accumulator result = *source;
  withoutAbsentKeys.insert(op.getResult());
  if (blockIsFull) {
    set(op.getResult(), std::move(result));
    return success();
  }
  ElementRegion &region = *regions[op];
  result.values = emitIf(b, negate(b, block.full), source->values, [&]() {
    Value minusInfinity = state.f32(-std::numeric_limits<float>::infinity());
    Thread thread = readThread(b, /*again=*/true);
    auto rows = indices(state, thread, op.getRow(), 2 * result.rowTiles, true);
    auto columns =
        indices(state, thread, op.getColumn(), 2 * result.groups, false);
    SmallVector<Value> masked;
    region.startBlock();
    int64_t keys = 8 * result.groups;
    if (auto words = MaskWords::get(op.getBody().front(), keys)) {
      Int firstKey = block.firstKey;
      if (plan.keyWarps != 1)
        firstKey = firstKey + state.firstKeyOfWarp(thread);
      MaskWords::Place place{rows, columns, firstKey, thread.lane};
      words->begin(b, region, place);
      Int left = state.arguments.extentOfCall(attn::Extent::Key) -
                 Int(b, columns.front());
      Value absent = MaskWords::columnsFrom(b, left, keys);
      SmallVector<Value> kept = words->emit(b, region, place);
      for (Value &word : kept)
        word = arith::AndIOp::create(b, word, Int(b, absent) ^ int64_t(-1));
      masked = result.values;
      MaskWords::select(
          b, masked, kept,
          [&](unsigned e) -> MaskWords::Bit {
            return {result.rowOf(e), result.columnOf(e)};
          },
          minusInfinity);
      return masked;
    }
    SmallVector<Value> present;
    for (unsigned column = 0; column < 2 * result.groups; ++column)
      present.push_back(isPresent(thread, column));
    for (auto [e, value] : llvm::enumerate(result.values)) {
      unsigned row = result.rowOf(e), column = result.columnOf(e);
      Value keep =
          region.emit(b, {rows[row], columns[column]}, row, column).front();
      keep = arith::AndIOp::create(b, keep, present[column]);
      masked.push_back(arith::SelectOp::create(b, keep, value, minusInfinity));
    }
    return masked;
  });
  set(op.getResult(), std::move(result));
  return success();
}

/// Keys past the end get no weight, whatever the body computed for them.
void KernelEmitter::maskAbsentKeys(Accumulator &scores) {
  Int keys = state.arguments.extentOfCall(attn::Extent::Key);
  Value ragged = keys.lessThan(block.firstKey + plan.tileN);
  scores.values = emitIf(b, ragged, scores.values, [&]() {
    Value minusInfinity = state.f32(-std::numeric_limits<float>::infinity());
    Thread thread = readThread(b, /*again=*/true);
    SmallVector<Value> present, masked;
    for (unsigned column = 0; column < 2 * scores.groups; ++column)
      present.push_back(isPresent(thread, column));
    for (auto [e, value] : llvm::enumerate(scores.values))
      masked.push_back(arith::SelectOp::create(b, present[scores.columnOf(e)],
                                               value, minusInfinity));
    return masked;
  });
}

LogicalResult KernelEmitter::emit(attn::OnlineSoftmaxOp op) {
  auto *scores = get<Accumulator>(op.getScores(), op);
  auto *max = get<Rows>(op.getMax(), op);
  auto *sum = get<Rows>(op.getSum(), op);
  if (!scores || !max || !sum)
    return failure();
  float factor = exponentFactor(op.getExp2Scale());
  if (!(factor > 0.0f && factor < std::numeric_limits<float>::infinity()))
    return diag::help(diag::error(op, Id::ScaleNotSupported)
                          << "the exponent's factor is " << factor
                          << "; it has to be positive and finite",
                      "use a positive scale, and negate the scores in a score "
                      "modifier");
  if (!blockIsFull && !withoutAbsentKeys.contains(op.getScores()))
    maskAbsentKeys(*scores);

  // Everything that alpha scales is rescaled here, under the vote.
  SmallVector<Accumulator *> accumulators;
  for (Operation *user : op.getAlpha().getUsers()) {
    auto accumulate = dyn_cast<attn::AccumulateOp>(user);
    if (!accumulate)
      return unsupported(user) << "only attn.accumulate may use alpha";
    auto *accumulator = get<Accumulator>(accumulate.getAcc(), accumulate);
    if (!accumulator)
      return failure();
    accumulators.push_back(accumulator);
  }
  auto statistics =
      std::make_shared<SoftmaxStatistics>(SoftmaxStatistics{*max, *sum});
  updateReference(state, *scores, factor, *statistics, accumulators);
  set(op.getNewMax(), statistics->max);
  auto exponents = [this, op, factor, statistics,
                    tile = *scores]() mutable -> LogicalResult {
    deferred.erase(op.getP());
    deferred.erase(op.getNewSum());
    exponentiate(state, tile, factor, *statistics);
    set(op.getP(), tile);
    set(op.getNewSum(), statistics->sum);
    return success();
  };
  deferred[op.getP()] = exponents;
  deferred[op.getNewSum()] = exponents;
  return success();
}

LogicalResult KernelEmitter::emit(attn::CastOp op) {
  Type type = op.getResult().getType().getElementType();
  // Operands are rounded where they are read from shared memory.
  if (auto found = fragments.find(op.getTile());
      type.isTF32() && found != fragments.end())
    if (auto *shared = std::get_if<SharedTile>(found->second.get())) {
      set(op.getResult(), *shared);
      return success();
    }
  bool rounded = plan.products == Products::Tf32 && type.isTF32();
  if (type != plan.element && !rounded)
    return unsupported(op) << "tiles in registers are cast to " << plan.element
                           << ", not to " << type;
  deferred[op.getResult()] = [this, op, type]() mutable -> LogicalResult {
    auto *tile = get<Accumulator>(op.getTile(), op);
    if (!tile)
      return failure();
    set(op.getResult(), packOperands(state, type, *tile));
    return success();
  };
  return success();
}

LogicalResult KernelEmitter::emit(attn::AccumulateOp op) {
  auto *values = get<SharedTile>(op.getV(), op);
  auto *accumulator = get<Accumulator>(op.getAcc(), op);
  if (!values || !accumulator)
    return failure();
  if (values->ringIndex != 1u)
    return unsupported(op) << "the value tile is the second tile that the "
                              "loop loads";
  if (plan.pingPong) {
    auto *p = get<Packed>(op.getP(), op);
    if (!p)
      return failure();
    pending = *p;
    set(op.getResult(), *accumulator);
    return success();
  }
  TileSupply::Visible visible =
      supply->acquire(1, block.firstKey, nextBlock.firstKey);
  if (plan.readsKeysEarly)
    visible.hook = [this, copies = visible.hook](unsigned group) {
      copies(group);
      if (group + 1 == plan.groupsOf(1))
        readNextKeys();
    };
  Accumulator result = *accumulator;
  // Probabilities that stay f32 are divided into operands here.
  std::optional<Packed> split;
  auto probabilities = [&]() -> Packed * {
    if (plan.products != Products::Bf16x3)
      return get<Packed>(op.getP(), op);
    auto *tile = get<Accumulator>(op.getP(), op);
    return tile ? &split.emplace(packOperands(state, plan.element, *tile))
                : nullptr;
  };
  if (failed(emitAccumulate(state, visible, probabilities, result)))
    return failure();
  set(op.getResult(), std::move(result));
  return success();
}

LogicalResult KernelEmitter::emit(attn::NormalizeOp op) {
  auto *accumulator = get<Accumulator>(op.getAcc(), op);
  auto *max = get<Rows>(op.getMax(), op);
  auto *sum = get<Rows>(op.getSum(), op);
  if (!accumulator || !max || !sum)
    return failure();
  Accumulator o = *accumulator;
  SoftmaxStatistics statistics{*max, *sum};
  state.machine.mergeKeyWarps(state, o, statistics);
  Value sink;
  if (!op.getSink().empty()) {
    constexpr unsigned none = ~0u;
    ElementRegion region(op.getSink(), {none, none}, state.arguments,
                         state.scalars, nullptr);
    region.emitUniform(b);
    sink = region.emit(b, {}, 0, 0).front();
  }
  if (op.getRowMax())
    set(op.getRowMax(), naturalMax(state, statistics));
  set(op.getLse(), normalize(state, o, statistics, sink));
  set(op.getO(), std::move(o));
  return success();
}

LogicalResult KernelEmitter::emit(attn::StoreTileOp op) {
  auto type = cast<RankedTensorType>(op.getDestination().getType());
  if (type.getRank() == 4) {
    if (!type.getElementType().isF16() && !type.getElementType().isBF16() &&
        type.getElementType() != plan.element)
      return diag::help(diag::error(op, Id::OperandTypeNotSupported)
                            << "an output of type " << type.getElementType()
                            << " is not supported on NVIDIA targets; f16, bf16 "
                               "and the type of q are",
                        "return o in the type of q, or use --arch=cpu");
    auto *tile = get<Accumulator>(op.getTile(), op);
    if (!tile)
      return failure();
    storeTile(state, *tile, op);
    return success();
  }
  auto *rows = get<Rows>(op.getTile(), op);
  if (!rows)
    return failure();
  storeRows(state, *rows, op);
  return success();
}
