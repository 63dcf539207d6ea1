// The loop over key blocks, and the frame of a kernel.
#include "lowering/sm80/KernelEmitter.h"

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
        return Fragment(
            rows(-exponentFactor(softmax.getExp2Scale()) * filled->value));
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
  ring = std::make_unique<TileRing>(state, loads);
  return success();
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
  ValueRange carriedTiles = body.getArguments().drop_front();

  KeyBlockList blocks(state, loop);
  SmallVector<Value> position = blocks.start();
  block = blocks.next(nullptr, position);
  ring->start(block.firstKey);
  if (plan.queryInRegisters) {
    ring->waitForFirst();
    query->load();
  }

  // Order: first key, full, position in the list, ring, tiles.
  unsigned positions = position.size(), slots = ring->carried().size();
  SmallVector<Value> inits{block.firstKey, block.full};
  llvm::append_range(inits, position);
  llvm::append_range(inits, ring->carried());
  llvm::append_range(inits, flatten(carriedTiles));
  auto types = llvm::to_vector(ValueRange(inits).getTypes());
  SmallVector<Location> locations(types.size(), loop.getLoc());
  auto whileOp = scf::WhileOp::create(b, types, inits);

  Block *before = b.createBlock(&whileOp.getBefore(), {}, types, locations);
  Int keys = state.arguments.extentOfCall(attn::Extent::Key);
  scf::ConditionOp::create(b, Int(b, before->getArgument(0)).lessThan(keys),
                           before->getArguments());

  Block *after = b.createBlock(&whileOp.getAfter(), {}, types, locations);
  ValueRange values = after->getArguments();
  block = {Int(b, values[0]), values[1]};
  position.assign(values.begin() + 2, values.begin() + 2 + positions);
  ring->setCarried(values.slice(2 + positions, slots));
  unflatten(carriedTiles, carriedTiles,
            values.drop_front(2 + positions + slots));
  state.scalars.map(body.getArgument(0), block.firstKey.get());
  nextBlock = blocks.next(&block, position);
  if (failed(emitBlock(body)))
    return failure();

  auto yield = cast<attn::YieldOp>(body.getTerminator());
  for (auto [tile, carried] : llvm::zip(yield.getValues(), carriedTiles)) {
    bool rows = std::holds_alternative<Rows>(*fragments[carried]);
    if (rows ? !get<Rows>(tile, loop) : !get<Accumulator>(tile, loop))
      return failure();
  }
  b.setLoc(loop.getLoc());
  SmallVector<Value> next{nextBlock.firstKey, nextBlock.full};
  llvm::append_range(next, position);
  llvm::append_range(next, ring->carried());
  llvm::append_range(next, flatten(yield.getValues()));
  scf::YieldOp::create(b, next);
  b.setInsertionPointAfter(whileOp);
  unflatten(loop.getResults(), carriedTiles,
            whileOp.getResults().drop_front(2 + positions + slots));

  // The last copies (zeros past the end) have landed and every warp is done
  // with the query tile.
  nvvm::cpAsyncWait(b, 0);
  nvvm::barrier(b);
  readCoordinatesAgain();
  return success();
}

/// Coordinates for what follows the loop, from special registers: those from
/// before need not live through it.
void KernelEmitter::readCoordinatesAgain() {
  state.thread = readThread(b, /*again=*/true);
  state.tile = readTilePosition(b, plan, state.arguments, longestFirst(kernel),
                                /*again=*/true);
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

FailureOr<LLVM::LLVMFuncOp> qm::sm80::emitKernel(attn::KernelOp kernel) {
  FailureOr<Plan> plan = Plan::get(kernel);
  if (failed(plan) || failed(checkRegions(kernel)))
    return failure();
  LocBuilder b(kernel.getLoc(), kernel);
  lowering::KernelInfo info = lowering::KernelInfo::get(kernel);
  LLVM::LLVMFuncOp function = nvvm::createKernel(
      b, kernel.getSymName(), info.slotCount(), plan->threads());
  function->setAttr("attn.shared_bytes",
                    b.getI64IntegerAttr(plan->sharedBytes()));
  Arguments arguments(b, kernel, function.getArgument(0));
  Thread thread = readThread(b);
  TilePosition tile =
      readTilePosition(b, *plan, arguments, longestFirst(kernel));
  Int shared(b, nvvm::dynamicShared(b, kernel->getParentOp()));
  KernelState state{b, *plan, arguments, thread, tile, shared, {}};
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
