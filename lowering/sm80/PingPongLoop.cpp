// The loop over key blocks as two groups of warps in turns: the product with
// the values of a block is put off to the next block's turn.
#include "lowering/sm80/KernelEmitter.h"
#include "lowering/sm80/PingPong.h"

using namespace mlir;
using namespace qm;
using namespace qm::sm80;

/// The one accumulate of the body, if its accumulator is a carried tile that it
/// alone replaces.
static attn::AccumulateOp findAccumulate(attn::KeyBlocksOp loop) {
  Block &body = loop.getBody().front();
  auto accumulates = llvm::to_vector(body.getOps<attn::AccumulateOp>());
  if (accumulates.size() != 1)
    return {};
  auto carried = dyn_cast<BlockArgument>(accumulates.front().getAcc());
  if (!carried || carried.getOwner() != &body)
    return {};
  Value yielded = body.getTerminator()->getOperand(carried.getArgNumber() - 1);
  return yielded == accumulates.front().getResult() ? accumulates.front()
                                                    : attn::AccumulateOp();
}

/// The product that was put off, added to the accumulator that the loop
/// carries.
LogicalResult KernelEmitter::emitPending(attn::AccumulateOp accumulate,
                                         TileSupply::Visible values,
                                         function_ref<void()> enter) {
  auto *accumulator = get<Accumulator>(accumulate.getAcc(), accumulate);
  if (!accumulator)
    return failure();
  Accumulator result = *accumulator;
  auto probabilities = [&]() {
    enter();
    return &*pending;
  };
  if (failed(emitAccumulate(state, values, probabilities, result)))
    return failure();
  set(accumulate.getAcc(), std::move(result));
  return success();
}

/// The values of the block before. Towards the end of their product the first
/// key fragments of the block under way are read: the product with them begins
/// without a wait.
TileSupply::Visible KernelEmitter::acquirePendingValues() {
  constexpr unsigned groupsLeft = 2;
  TileSupply::Visible values =
      supply->acquire(1, block.firstKey, nextBlock.firstKey);
  if (!plan.readsKeysEarly)
    return values;
  unsigned last = plan.groupsOf(1) - 1;
  unsigned at = last - std::min(groupsLeft, last);
  values.hook = [this, at, copies = values.hook](unsigned group) {
    copies(group);
    if (group == at)
      firstFragments = readFirstFragments(
          state, *query,
          supply->acquire(0, block.firstKey, nextBlock.firstKey).place);
  };
  return values;
}

LogicalResult KernelEmitter::emitPingPong(attn::KeyBlocksOp loop) {
  attn::AccumulateOp accumulate = findAccumulate(loop);
  if (!accumulate)
    return unsupported(loop)
           << "ping_pong puts off the one product with the values, whose "
              "accumulator the loop carries";
  auto &tiles = static_cast<PingPong &>(*supply);
  KeyBlockList blocks(state, loop);
  position = blocks.start();

  // Phase 0 has no product with values. Without a mask it is the last block's,
  // so that the loop needs no code for keys past the end.
  bool lastFirst = blocks.isOneRun();
  block = lastFirst ? blocks.last() : blocks.next(nullptr, position);
  Int end = lastFirst ? block.firstKey
                      : state.arguments.extentOfCall(attn::Extent::Key);
  tiles.start(block.firstKey);
  query->load();
  nextBlock = blocks.next(lastFirst ? nullptr : &block, position);
  tiles.enter();
  tiles.copyNext(nextBlock.firstKey);
  if (failed(emitBody(loop)))
    return failure();
  tiles.advance();
  block = nextBlock;

  blockIsFull = lastFirst;
  if (lastFirst)
    tiles.beginRun(block.firstKey + plan.tileN);
  if (failed(emitWhile(
          loop, [&]() { return block.firstKey.lessThan(end); },
          [&]() -> LogicalResult {
            nextBlock = blocks.next(&block, position);
            KeyBlock next = nextBlock;
            if (lastFirst)
              tiles.expectNext(next.firstKey.lessThan(end));
            if (failed(emitPending(accumulate, acquirePendingValues(),
                                   [&]() { tiles.enter(); })) ||
                failed(emitBody(loop)))
              return failure();
            tiles.advance();
            block = next;
            return success();
          })))
    return failure();
  tiles.endRun();
  return emitPending(accumulate, tiles.lastValues(), [&]() {
    tiles.enter();
    tiles.leaveLast();
  });
}
