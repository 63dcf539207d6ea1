//===- KernelEmitter.cpp - a scheduled kernel as a function ---------------===//

#include "lowering/cpu/KernelEmitter.h"

#include "dialect/Diagnostics.h"
#include "lowering/common/KeyCondition.h"
#include "lowering/cpu/Extrema.h"
#include "lowering/cpu/SearchSorted.h"
#include "lowering/cpu/TileOrder.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"

using namespace mlir;
using namespace qm;
using namespace qm::cpu;

KernelEmitter::KernelEmitter(attn::KernelOp kernel,
                             const lowering::TargetInfo &target)
    : kernel(kernel), schedule(kernel.getScheduleAttr()), target(target),
      b(kernel.getLoc(), OpBuilder(kernel), target.vectorBytes / 4),
      vectors(schedule.getMicroM() / b.lanes()),
      longestFirst(!kernel.getKeyBlocks().getClassify().empty()),
      paddingCondition(lowering::conditionOnKeys(kernel.getKeyBlocks())) {
  environment.load = [this](OpBuilder &, attn::LoadOp load,
                            ArrayRef<Value> indices) {
    return emitCapturedLoad(b, slots->tensor(load.getBuffer()), indices);
  };
  environment.extent = [this](OpBuilder &, attn::ExtentOp extent) {
    return b.toI32(slots->extent(b, extent.getKind()));
  };
  environment.search = [this](OpBuilder &, attn::SearchOp search,
                              ArrayRef<Value> indices, Value value) {
    return emitSearch(b, search, slots->tensor(search.getBuffer()), indices,
                      value);
  };
  environment.extrema = [this](OpBuilder &, attn::ExtremaOp extrema,
                               ArrayRef<Value> indices, Value last) {
    return emitExtrema(b, extrema, slots->tensor(extrema.getBuffer()), indices,
                       last);
  };
}

LogicalResult KernelEmitter::unsupported(Operation &op, StringRef why) {
  return diag::help(diag::error(&op, diag::Id::CpuKernelShape)
                        << "the CPU lowering cannot place '" << op.getName()
                        << "' in kernel '" << kernel.getSymName()
                        << "': " << why,
                    "let the passes make the kernel (qmc build), or keep the "
                    "order load, dot, map and mask, softmax, accumulate, "
                    "normalize, store");
}

QueryTile KernelEmitter::allocateQueryTile(int64_t columns) {
  return {scratch->allocate(b, columns * schedule.getTileM()), columns,
          vectors};
}

LLVM::LLVMFuncOp KernelEmitter::makeFunction() {
  auto pointer = LLVM::LLVMPointerType::get(b.getContext());
  Type i64 = b.getI64Type();
  auto type = LLVM::LLVMFunctionType::get(
      LLVM::LLVMVoidType::get(b.getContext()), {pointer, i64, i64});
  auto function = LLVM::LLVMFuncOp::create(b, kernel.getSymName(), type);
  function.setTargetCpu(target.llvmCpu);
  function.setNoUnwind(true);
  if (target.vectorBytes > 16)
    function.setPreferVectorWidth(std::to_string(8 * target.vectorBytes));
  return function;
}

FailureOr<LLVM::LLVMFuncOp> KernelEmitter::emit() {
  LLVM::LLVMFuncOp function = makeFunction();
  Block *entry = function.addEntryBlock(b);
  b.setInsertionPointToStart(entry);
  Value slotsPointer = entry->getArgument(0);
  scratch.emplace(b, slotsPointer);
  slots.emplace(b, kernel, slotsPointer);
  for (auto [argument, value] : slots->scalars())
    scalars.map(argument, value);

  bool failed = false;
  b.loop(entry->getArgument(1), entry->getArgument(2), 1,
         [&](Value tile) { failed = mlir::failed(emitTile(tile)); });
  LLVM::ReturnOp::create(b, ValueRange());
  scratch->finish(b);
  if (failed) {
    function.erase();
    return failure();
  }
  return function;
}

LogicalResult KernelEmitter::emitTile(Value tile) {
  rows = findTile(b, *slots, tile, schedule.getTileM(), longestFirst);
  rows.strips =
      arith::CeilDivSIOp::create(b, rows.count, b.i64(schedule.getMicroM()));
  LogicalResult status = success();
  auto emitBody = [&] {
    for (Operation &op : kernel.getBody().front())
      if (succeeded(status))
        status = emitOutsideLoop(op);
  };
  // There are more tile numbers than tiles, see findTile.
  if (slots->getSequence())
    b.when(arith::CmpIOp::create(b, arith::CmpIPredicate::sgt, rows.count,
                                 b.i64(0)),
           emitBody);
  else
    emitBody();
  return status;
}

bool KernelEmitter::emitScalar(Operation &op) {
  if (auto position = dyn_cast<attn::TilePositionOp>(op)) {
    const Sequence *sequence = slots->getSequence();
    scalars.map(position.getBatch(),
                b.toI32(sequence ? sequence->number : rows.batch));
    scalars.map(position.getHead(), b.toI32(rows.head));
    scalars.map(position.getRow(), b.toI32(rows.first));
    return true;
  }
  if (auto extent = dyn_cast<attn::ExtentOp>(op)) {
    scalars.map(extent.getResult(), environment.extent(b, extent));
    return true;
  }
  if (auto load = dyn_cast<attn::LoadOp>(op)) {
    auto indices = llvm::map_to_vector(load.getIndices(), [&](Value index) {
      return scalars.lookupOrDefault(index);
    });
    scalars.map(load.getResult(), environment.load(b, load, indices));
    return true;
  }
  if (!isa<arith::ArithDialect, math::MathDialect>(op.getDialect()))
    return false;
  b.clone(op, scalars);
  return true;
}

LogicalResult KernelEmitter::emitOutsideLoop(Operation &op) {
  b.setLoc(op.getLoc());
  if (emitScalar(op))
    return success();
  if (auto load = dyn_cast<attn::LoadTileOp>(op)) {
    QueryTile tile = allocateQueryTile(load.getTile().getType().getColumns());
    emitLoadRows(b, slots->tensor(load.getSource()), rows, tile);
    tiles[load.getTile()] = tile;
    return success();
  }
  if (auto cast = dyn_cast<attn::CastOp>(op)) {
    auto *tile = find<QueryTile>(cast.getTile());
    if (!tile || !cast.getTile().hasOneUse())
      return unsupported(op,
                         "a cast outside the key loop needs a tile of query "
                         "rows that nothing else reads");
    Type type = cast.getResult().getType().getElementType();
    if (!type.isF32())
      emitRoundRows(b, *tile, rows, type);
    QueryTile rounded = *tile; // a copy: the table of tiles grows
    tiles[cast.getResult()] = rounded;
    return success();
  }
  if (auto fill = dyn_cast<attn::FillOp>(op)) {
    QueryTile tile = allocateQueryTile(fill.getTile().getType().getColumns());
    emitFill(b, tile, rows, fill.getValue().convertToFloat());
    tiles[fill.getTile()] = tile;
    return success();
  }
  if (auto loop = dyn_cast<attn::KeyBlocksOp>(op))
    return emitKeyBlocks(loop);
  if (auto normalize = dyn_cast<attn::NormalizeOp>(op))
    return emitNormalize(normalize);
  if (auto store = dyn_cast<attn::StoreTileOp>(op))
    return emitStore(store);
  return unsupported(op, "it has no meaning outside the key loop");
}

LogicalResult KernelEmitter::emitNormalize(attn::NormalizeOp op) {
  auto *acc = find<QueryTile>(op.getAcc());
  auto *max = find<QueryTile>(op.getMax());
  auto *sum = find<QueryTile>(op.getSum());
  if (!acc || !max || !sum || !op.getAcc().hasOneUse())
    return unsupported(*op, "it needs the results of the key loop, the "
                            "accumulator used here only");
  // Copies: the table of tiles grows below.
  QueryTile output = *acc, maxTile = *max, sumTile = *sum;
  QueryTile lse = allocateQueryTile(1), rowMax;
  if (op.getRowMax())
    rowMax = allocateQueryTile(1);
  Value sink;
  if (!op.getSink().empty())
    sink = b.splat(
        lowering::inlineRegion(b, op.getSink(), {}, scalars, environment)[0]);
  const float exp2Scale = getExp2Scale(op.getExp2ScaleAttr());
  forEachStrip(b, rows, [&](Value index) {
    TransposedTile o = output.strip(b, index);
    for (int64_t v = 0; v < vectors; ++v) {
      auto at = [&](QueryTile tile) {
        return tile.strip(b, index).vectorAddress(b, int64_t(0), v);
      };
      Value l = b.loadVector(at(sumTile), b.getF32Type());
      Value m = b.loadVector(at(maxTile), b.getF32Type());
      if (op.getRowMax())
        b.storeVector(emitNaturalMax(b, m, exp2Scale), at(rowMax));
      Value factor; // of the accumulator
      if (sink) {
        SinkStep step = emitSink(b, m, l, exp2Scale, sink);
        b.storeVector(emitLogSumExp(b, step.max, step.sum, 1.0f), at(lse));
        l = step.sum, factor = step.alpha;
      } else {
        b.storeVector(emitLogSumExp(b, m, l, exp2Scale), at(lse));
      }
      // A row without a key has sum 0 and accumulator 0: dividing by 1 gives 0.
      Value zero = arith::CmpFOp::create(b, arith::CmpFPredicate::OEQ, l,
                                         b.f32Vector(0.0f));
      Value divisor = arith::SelectOp::create(b, zero, b.f32Vector(1.0f), l);
      b.loop(b.i64(0), b.i64(output.columns), 1, [&](Value column) {
        Value address = o.vectorAddress(b, column, v);
        Value value = b.loadVector(address, b.getF32Type());
        if (factor)
          value = arith::MulFOp::create(b, value, factor);
        b.storeVector(arith::DivFOp::create(b, value, divisor), address);
      });
    }
  });
  tiles[op.getO()] = output;
  tiles[op.getLse()] = lse;
  if (op.getRowMax())
    tiles[op.getRowMax()] = rowMax;
  return success();
}

LogicalResult KernelEmitter::emitStore(attn::StoreTileOp op) {
  auto *tile = find<QueryTile>(op.getTile());
  if (!tile)
    return unsupported(*op, "it stores a tile of query rows");
  emitStoreRows(b, *tile, rows, slots->tensor(op.getDestination()));
  return success();
}
