// The loop over key blocks, and the frame of a kernel.
#include "lowering/sm80/KernelEmitter.h"
#include "lowering/sm80/TileOrder.h"

#include "mlir/Dialect/Math/IR/Math.h"

using namespace mlir;
using namespace qm;
using namespace qm::sm80;
using diag::Id;

//===----------------------------------------------------------------------===//
// What the loop carries
//===----------------------------------------------------------------------===//

/// The initial fragment of carried tile `index`: what it is follows from who
/// uses it in the body.
FailureOr<Fragment> KernelEmitter::spread(attn::KeyBlocksOp loop,
                                          unsigned index) {
  auto *filled = get<Filled>(loop.getInits()[index], loop);
  if (!filled)
    return failure();
  Value carried = loop.getBody().getArgument(1 + index);
  auto rows = [&](float value) {
    return Rows{SmallVector<Value>(2 * plan.rowTiles, state.f32(value))};
  };
  for (Operation *user : carried.getUsers()) {
    if (auto softmax = dyn_cast<attn::OnlineSoftmaxOp>(user)) {
      if (softmax.getMax() == carried)
        return Fragment(rows(std::min(
            -exponentFactor(softmax.getExp2Scale()) * filled->value, unseen)));
      // Every lane of a row has its own part of the sum.
      if (softmax.getSum() == carried && filled->value == 0.0f)
        return Fragment(rows(0.0f));
    }
    if (auto accumulate = dyn_cast<attn::AccumulateOp>(user);
        accumulate && accumulate.getAcc() == carried) {
      Accumulator accumulator(plan.rowTiles, plan.valueDim / 8);
      llvm::fill(accumulator.values, state.f32(filled->value));
      return Fragment(std::move(accumulator));
    }
  }
  return unsupported(loop) << "carried tile " << index
                           << " is no maximum, sum or accumulator that starts "
                              "at -inf or 0";
}

static MutableArrayRef<Value> valuesOf(Fragment &fragment) {
  if (auto *accumulator = std::get_if<Accumulator>(&fragment))
    return accumulator->values;
  return std::get<Rows>(fragment).values;
}

/// The registers of tiles that are accumulators or rows, one after another.
SmallVector<Value> KernelEmitter::flatten(ValueRange tiles) {
  SmallVector<Value> values;
  for (Value tile : tiles)
    llvm::append_range(values, valuesOf(*fragments[tile]));
  return values;
}

/// Gives `tiles` the kinds of `like` and takes their registers from `values`.
void KernelEmitter::unflatten(ValueRange tiles, ValueRange like,
                              ValueRange values) {
  for (auto [tile, model] : llvm::zip(tiles, like)) {
    Fragment fragment = *fragments[model];
    MutableArrayRef<Value> into = valuesOf(fragment);
    llvm::copy(values.take_front(into.size()), into.begin());
    values = values.drop_front(into.size());
    set(tile, std::move(fragment));
  }
}

//===----------------------------------------------------------------------===//
// The loop
//===----------------------------------------------------------------------===//

/// Checks the loop's shape and emits what need not be emitted in every block.
LogicalResult KernelEmitter::prepareLoop(attn::KeyBlocksOp loop) {
  Block &body = loop.getBody().front();
  auto loads = llvm::to_vector(body.getOps<attn::LoadTileOp>());
  if (loads.size() != 2)
    return unsupported(loop) << "the loop loads " << loads.size()
                             << " tiles; a key and a value tile needed";
  if (!query)
    return unsupported(loop) << "no query tile is loaded before the loop";
  for (attn::LoadTileOp load : loads)
    if (load.getRow() != body.getArgument(0) ||
        load.getBatch().getParentBlock() == &body ||
        load.getHead().getParentBlock() == &body)
      return unsupported(load)
             << "the loop loads tiles at the first key of the "
                "block, of one batch and head";
  for (Operation &op : body) {
    ElementRegion::Roles roles;
    if (isa<attn::MapOp>(op))
      roles = {1, 2};
    else if (isa<attn::MaskOp>(op))
      roles = {0, 1};
    else
      continue;
    auto &region = regions[&op];
    region = std::make_unique<ElementRegion>(
        op.getRegion(0), roles, state.arguments, state.scalars, loop);
    region->emitUniform(b);
  }
  supply = state.machine.makeSupply(state, loads);
  return success();
}

/// What travels round a loop: the block to do next, the position in the list,
/// the supply's state, put-off probabilities, key fragments read early, tiles.
SmallVector<Value> KernelEmitter::gather(attn::KeyBlocksOp loop) {
  SmallVector<Value> values{block.firstKey, block.full};
  llvm::append_range(values, position);
  llvm::append_range(values, supply->carried());
  if (pending)
    llvm::append_range(values, pending->words);
  if (firstFragments)
    for (nvvm::Values *fragment : firstFragments->all())
      llvm::append_range(values, *fragment);
  llvm::append_range(values,
                     flatten(loop.getBody().getArguments().drop_front()));
  return values;
}

void KernelEmitter::scatter(attn::KeyBlocksOp loop, ValueRange values) {
  auto take = [&](size_t count) {
    ValueRange taken = values.take_front(count);
    values = values.drop_front(count);
    return taken;
  };
  ValueRange head = take(2);
  block = {Int(b, head[0]), head[1]};
  llvm::copy(take(position.size()), position.begin());
  supply->setCarried(take(supply->carried().size()));
  if (pending)
    llvm::copy(take(pending->words.size()), pending->words.begin());
  if (firstFragments)
    for (nvvm::Values *fragment : firstFragments->all())
      llvm::copy(take(fragment->size()), fragment->begin());
  ValueRange carriedTiles = loop.getBody().getArguments().drop_front();
  unflatten(carriedTiles, carriedTiles, values);
}

LogicalResult KernelEmitter::emitWhile(attn::KeyBlocksOp loop,
                                       function_ref<Value()> condition,
                                       function_ref<LogicalResult()> body) {
  SmallVector<Value> inits = gather(loop);
  auto types = llvm::to_vector(ValueRange(inits).getTypes());
  SmallVector<Location> locations(types.size(), loop.getLoc());
  auto whileOp = scf::WhileOp::create(b, types, inits);
  Block *before = b.createBlock(&whileOp.getBefore(), {}, types, locations);
  scatter(loop, before->getArguments());
  scf::ConditionOp::create(b, condition(), before->getArguments());
  Block *after = b.createBlock(&whileOp.getAfter(), {}, types, locations);
  scatter(loop, after->getArguments());
  if (failed(body()))
    return failure();
  scf::YieldOp::create(b, gather(loop));
  b.setInsertionPointAfter(whileOp);
  scatter(loop, whileOp.getResults());
  return success();
}

LogicalResult KernelEmitter::emitWhere(attn::KeyBlocksOp loop, Value condition,
                                       function_ref<LogicalResult()> then,
                                       function_ref<void()> otherwise) {
  SmallVector<Value> before = gather(loop);
  auto op = scf::IfOp::create(b, ValueRange(before).getTypes(), condition,
                              /*addThenBlock=*/true, /*addElseBlock=*/true);
  b.setInsertionPointToStart(op.thenBlock());
  if (failed(then()))
    return failure();
  scf::YieldOp::create(b, gather(loop));
  scatter(loop, before);
  b.setInsertionPointToStart(op.elseBlock());
  otherwise();
  scf::YieldOp::create(b, gather(loop));
  b.setInsertionPointAfter(op);
  scatter(loop, op.getResults());
  return success();
}

Value KernelEmitter::blockExists() {
  return block.firstKey.lessThan(
      state.arguments.extentOfCall(attn::Extent::Key));
}

/// The body for `block`; the carried tiles become those of the next one.
LogicalResult KernelEmitter::emitBody(attn::KeyBlocksOp loop) {
  Block &body = loop.getBody().front();
  state.scalars.map(body.getArgument(0), block.firstKey.get());
  if (failed(emitBlock(body)))
    return failure();
  ValueRange carriedTiles = body.getArguments().drop_front();
  SmallVector<Fragment> next;
  for (auto [tile, carried] :
       llvm::zip(body.getTerminator()->getOperands(), carriedTiles)) {
    bool rows = std::holds_alternative<Rows>(*fragments[carried]);
    if (rows ? !get<Rows>(tile, loop) : !get<Accumulator>(tile, loop))
      return failure();
    next.push_back(*fragments[tile]);
  }
  for (auto [carried, fragment] : llvm::zip(carriedTiles, next))
    set(carried, std::move(fragment));
  b.setLoc(loop.getLoc());
  return success();
}

/// Does `block` and goes on to the next.
LogicalResult KernelEmitter::emitStep(attn::KeyBlocksOp loop,
                                      KeyBlockList &blocks) {
  nextBlock = blocks.next(&block, position);
  Value seen = blockIsFull ? Value() : blocks.seenByWarp(block);
  KeyBlock next = nextBlock;
  auto body = [&]() { return emitBody(loop); };
  // A warp that sees nothing of the block only does its part of the copies.
  auto skip = [&]() {
    for (unsigned index : {0, 1}) {
      TileSupply::Visible tile =
          supply->acquire(index, block.firstKey, nextBlock.firstKey);
      for (unsigned group = 0; group < plan.groupsOf(index); ++group)
        tile.hook(group);
    }
    if (plan.readsKeysEarly)
      readNextKeys();
  };
  if (failed(seen ? emitWhere(loop, seen, body, skip) : body()))
    return failure();
  block = next;
  return success();
}

/// What the next product with a key tile begins with, while the one before it
/// ends.
void KernelEmitter::readNextKeys() {
  firstFragments = readFirstFragments(state, *query, supply->nextKeys());
}

LogicalResult KernelEmitter::emitRing(attn::KeyBlocksOp loop) {
  KeyBlockList blocks(state, loop);
  position = blocks.start();
  block = blocks.next(nullptr, position);
  supply->start(block.firstKey);
  if (plan.residentQuerySteps) {
    supply->waitForFirst();
    query->load();
  } else {
    // Without any block no barrier of the loop says that the query tile is
    // there, over whose rows a warp writes its output.
    Int first = block.firstKey;
    Int keys = state.arguments.extentOfCall(attn::Extent::Key);
    emitIf(b, keys.atMost(first), {}, [&]() -> SmallVector<Value> {
      supply->waitForFirst();
      return {};
    });
  }
  if (plan.readsKeysEarly)
    readNextKeys();
  auto exists = [&]() { return blockExists(); };
  auto step = [&]() { return emitStep(loop, blocks); };
  if (plan.oneLoop || !blocks.hasFullBlocks())
    return emitWhile(loop, exists, step);
  if (blocks.isOneRun()) {
    if (failed(emitRun(loop, blocks)))
      return failure();
    return emitWhile(loop, exists, step);
  }
  return emitWhile(loop, exists, [&]() -> LogicalResult {
    if (failed(emitRun(loop, blocks)))
      return failure();
    return step();
  });
}

/// A run of full blocks up to its last, which looks for the next run. Without
/// the branch over the mask, the list and the ends of tensors, ptxas overlaps
/// the end of one product with the softmax and the next.
LogicalResult KernelEmitter::emitRun(attn::KeyBlocksOp loop,
                                     KeyBlockList &blocks) {
  Int last = blocks.lastOfRun(block, position);
  blockIsFull = true;
  supply->beginRun(block.firstKey + plan.tileN);
  LogicalResult result = emitWhile(
      loop, [&]() { return block.firstKey.lessThan(last); },
      [&]() -> LogicalResult {
        nextBlock = blocks.nextOfRun(block);
        KeyBlock next = nextBlock;
        if (failed(emitBody(loop)))
          return failure();
        block = next;
        return success();
      });
  blockIsFull = false;
  supply->endRun();
  blocks.endRun(block, position);
  return result;
}

LogicalResult KernelEmitter::emit(attn::KeyBlocksOp loop) {
  Block &body = loop.getBody().front();
  if (failed(prepareLoop(loop)))
    return failure();
  for (auto [index, init] : llvm::enumerate(loop.getInits())) {
    FailureOr<Fragment> fragment = spread(loop, index);
    if (failed(fragment))
      return failure();
    // Two carried tiles may start from one fill: the fragment belongs to the
    // body's argument.
    set(body.getArgument(1 + index), std::move(*fragment));
  }
  if (failed(plan.pingPong ? emitPingPong(loop) : emitRing(loop)))
    return failure();
  for (auto [result, carried] :
       llvm::zip(loop.getResults(), body.getArguments().drop_front()))
    set(result, *fragments[carried]);
  supply->finish();
  readCoordinatesAgain();
  return success();
}

/// Coordinates for what follows the loop, from special registers: those from
/// before need not live through it.
void KernelEmitter::readCoordinatesAgain() {
  state.thread = readThread(b, /*again=*/true);
  state.tile = readTilePositionAgain(state, longestFirst(kernel));
  for (auto position : kernel.getBody().front().getOps<attn::TilePositionOp>())
    (void)emit(position);
}

//===----------------------------------------------------------------------===//
// The kernel
//===----------------------------------------------------------------------===//

bool qm::sm80::longestFirst(attn::KernelOp kernel) {
  return !kernel.getKeyBlocks().getClassify().empty();
}

/// Refuses operations of regions that have no machine code, at the user's line.
static LogicalResult checkRegions(attn::KernelOp kernel) {
  WalkResult result = kernel.walk([&](Operation *op) {
    if (!isa<attn::MapOp, attn::MaskOp, attn::KeyBlocksOp>(op->getParentOp()) ||
        isa<attn::AttnDialect>(op->getDialect()))
      return WalkResult::advance();
    std::optional<std::string> why = whyUnsupported(*op);
    if (!why)
      return WalkResult::advance();
    (void)diag::help(diag::error(op, Id::OperationNotSupported) << *why,
                     "compute in f32 and i32, or use --arch=cpu");
    return WalkResult::interrupt();
  });
  return failure(result.wasInterrupted());
}

FailureOr<LLVM::LLVMFuncOp> qm::sm80::emitKernel(attn::KernelOp kernel,
                                                 const Plan &plan,
                                                 const Machine &machine) {
  if (failed(checkRegions(kernel)))
    return failure();
  LocBuilder b(kernel.getLoc(), kernel);
  lowering::KernelInfo info = lowering::KernelInfo::get(kernel);
  LLVM::LLVMFuncOp function = nvvm::createKernel(
      b, kernel.getSymName(), info.slotCount(), plan.threads());
  function->setAttr("attn.shared_bytes",
                    b.getI64IntegerAttr(plan.sharedBytes()));
  Arguments arguments(b, kernel, function.getArgument(0));
  Thread thread = readThread(b);
  Int shared(b, nvvm::dynamicShared(b, kernel->getParentOp()));
  TilePosition tile = readTilePosition(b, plan, arguments, thread, shared,
                                       longestFirst(kernel));
  KernelState state{b, plan, machine, arguments, thread, tile, shared, {}};
  state.exactMax = kernel.getRowMax();
  for (BlockArgument argument : kernel.getArguments())
    if (!isa<RankedTensorType>(argument.getType()))
      state.scalars.map(argument, arguments.scalar(argument));
  if (failed(KernelEmitter(kernel, state).emitBody())) {
    function->erase();
    return failure();
  }
  b.setLoc(kernel.getLoc());
  LLVM::ReturnOp::create(b, ValueRange());
  return function;
}
