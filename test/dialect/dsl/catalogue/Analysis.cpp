//===- Analysis.cpp - what the compiler knows of a mask's blocks ----------===//
#include "test/dialect/dsl/catalogue/Analysis.h"

#include "dialect/AttnOps.h"
#include "passes/Passes.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"

#include <stdexcept>

using namespace mlir;
using namespace qm;
using namespace qm::test;

namespace {

constexpr int tile = 128;

/// Evaluates a region on constants. Loads read the data of the call; everything
/// else is folded.
class Folder {
public:
  Folder(attn::KernelOp kernel, const Call &call)
      : kernel(kernel), call(call), builder(kernel.getContext()) {
    auto names = kernel->getAttrOfType<ArrayAttr>("arg_names");
    for (auto [name, value] : llvm::zip(names, kernel.getArguments()))
      argumentNames[value] = cast<StringAttr>(name).getValue().str();
    // Batch entry 0, head 0.
    kernel.walk([&](attn::TilePositionOp position) {
      for (Value at : position->getResults())
        bind(at, 0);
    });
  }

  void bind(Value value, int64_t number) {
    values[value] = builder.getI32IntegerAttr(number);
  }

  SmallVector<int64_t> run(Region &region, ArrayRef<int> arguments) {
    Block &block = region.front();
    for (auto [argument, number] : llvm::zip(block.getArguments(), arguments))
      bind(argument, number);
    for (Operation &op : block.without_terminator()) {
      if (auto extrema = dyn_cast<attn::ExtremaOp>(op))
        evaluateExtrema(extrema);
      else
        values[op.getResult(0)] = evaluate(op);
    }
    return llvm::map_to_vector(
        block.getTerminator()->getOperands(),
        [&](Value value) { return number(values.lookup(value)); });
  }

private:
  static int64_t number(Attribute value) {
    APInt integer = cast<IntegerAttr>(value).getValue();
    return integer.getBitWidth() == 1 ? int64_t(integer.isOne())
                                      : integer.getSExtValue();
  }

  Attribute evaluate(Operation &op) {
    if (auto load = dyn_cast<attn::LoadOp>(op))
      return evaluateLoad(load);
    if (auto search = dyn_cast<attn::SearchOp>(op))
      return evaluateSearch(search);
    if (auto extent = dyn_cast<attn::ExtentOp>(op))
      return builder.getI32IntegerAttr(evaluateExtent(extent));
    Attribute constant;
    if (matchPattern(&op, m_Constant(&constant)))
      return constant;
    SmallVector<Attribute> operands =
        llvm::map_to_vector(op.getOperands(), [&](Value operand) {
          return values.lookup(operand);
        });
    SmallVector<OpFoldResult> results;
    if (failed(op.fold(operands, results)))
      throw std::runtime_error("no fold for " +
                               op.getName().getStringRef().str());
    if (results.empty()) // folded in place
      return values.lookup(op.getResult(0));
    Attribute folded = dyn_cast<Attribute>(results.front());
    return folded ? folded : values.lookup(cast<Value>(results.front()));
  }

  int64_t offsetOf(const Array &array, OperandRange indices) {
    int64_t offset = 0;
    for (auto [index, extent] : llvm::zip(indices, array.shape)) {
      int64_t at = number(values.lookup(index));
      offset = offset * extent + std::clamp<int64_t>(at, 0, extent - 1);
    }
    return offset;
  }

  Attribute evaluateLoad(attn::LoadOp load) {
    const Array &array = call.buffers.at(argumentNames.at(load.getBuffer()));
    int64_t offset = offsetOf(array, load.getIndices());
    return IntegerAttr::get(load.getType(),
                            static_cast<int64_t>(array.elements[offset]));
  }

  Attribute evaluateSearch(attn::SearchOp search) {
    const Array &array = call.buffers.at(argumentNames.at(search.getBuffer()));
    int64_t extent = array.shape.back(), at = 0;
    int64_t row = offsetOf(array, search.getIndices()) * extent;
    int64_t value = number(values.lookup(search.getValue()));
    auto precedes = [&](double element) {
      return search.getAbove() ? element <= value : element < value;
    };
    while (at < extent && precedes(array.elements[row + at]))
      ++at;
    return builder.getI32IntegerAttr(at < extent ? at : int64_t(1) << 30);
  }

  void evaluateExtrema(attn::ExtremaOp extrema) {
    const Array &array = call.buffers.at(argumentNames.at(extrema.getBuffer()));
    int64_t dimension = extrema.getDimension();
    int64_t extent = array.shape[dimension], stride = 1;
    for (int64_t d = dimension + 1; d < int64_t(array.shape.size()); ++d)
      stride *= array.shape[d];
    int64_t from = std::clamp<int64_t>(
        number(values.lookup(extrema.getIndices()[dimension])), 0, extent - 1);
    int64_t to = std::clamp<int64_t>(number(values.lookup(extrema.getLast())),
                                     0, extent - 1);
    int64_t first = offsetOf(array, extrema.getIndices());
    int64_t least = INT32_MAX, greatest = INT32_MIN;
    for (int64_t at = from; at <= to; ++at) {
      int64_t element = array.elements[first + (at - from) * stride];
      least = std::min(least, element);
      greatest = std::max(greatest, element);
    }
    values[extrema.getLeast()] = builder.getI32IntegerAttr(least);
    values[extrema.getGreatest()] = builder.getI32IntegerAttr(greatest);
  }

  int64_t evaluateExtent(attn::ExtentOp extent) {
    switch (extent.getKind()) {
    case attn::Extent::Batch:
      return call.batch;
    case attn::Extent::Heads:
      return call.heads;
    case attn::Extent::KvHeads:
      return call.kvHeads;
    case attn::Extent::Query:
      return call.query;
    case attn::Extent::Key:
      return call.key;
    }
    llvm_unreachable("all kinds are handled");
  }

  attn::KernelOp kernel;
  const Call &call;
  Builder builder;
  DenseMap<Value, Attribute> values;
  llvm::DenseMap<Value, std::string> argumentNames;
};

OwningOpRef<ModuleOp> lift(MLIRContext &context, const char *text) {
  auto module = parseSourceString<ModuleOp>(text, &context);
  if (!module)
    throw std::runtime_error("the spec does not parse");
  PassManager manager(&context);
  manager.addNestedPass<func::FuncOp>(passes::createToOnline());
  manager.addPass(passes::createTileAttention());
  manager.addNestedPass<attn::KernelOp>(passes::createLiftMask());
  manager.addNestedPass<attn::KernelOp>(passes::createBoundKeys());
  if (failed(manager.run(*module)))
    throw std::runtime_error("the passes fail");
  return module;
}

int keptPairs(const Entry &entry, int i0, int i1, int j0, int j1) {
  int kept = 0;
  for (int i = i0; i < i1; ++i)
    for (int j = j0; j < j1; ++j)
      kept += entry.keep(0, 0, i, j);
  return kept;
}

/// A mask that keeps everything leaves no regions: no block needs a mask.
Analysis analyseWithoutRegions(Analysis result) {
  result.bare = result.blocks;
  result.inBounds = result.blocks;
  return result;
}

} // namespace

Analysis qm::test::analyse(size_t index) {
  Captures captures;
  Entry entry = captures.entries()[index];
  captures.call.query = entry.query;
  captures.spec.mask(entry.mask);

  MLIRContext context;
  context.loadDialect<attn::AttnDialect, arith::ArithDialect, func::FuncDialect,
                      math::MathDialect>();
  OwningOpRef<ModuleOp> module = lift(context, captures.spec.mlir());
  attn::KernelOp kernel = *module->getOps<attn::KernelOp>().begin();
  attn::KeyBlocksOp loop = kernel.getKeyBlocks();
  Folder folder(kernel, captures.call);

  Analysis result;
  result.bounded = !loop.getBounds().empty();
  bool classified = !loop.getClassify().empty();
  for (int i0 = 0; i0 < entry.query; i0 += tile) {
    int i1 = std::min(i0 + tile, entry.query);
    SmallVector<int64_t> bounds{0, Captures::keys - 1};
    if (result.bounded)
      bounds = folder.run(loop.getBounds(), {i0, i1 - 1});
    int firstNeeded = -1, lastNeeded = -2;
    for (int j0 = 0; j0 < Captures::keys; j0 += tile) {
      int j1 = j0 + tile, pairs = (i1 - i0) * tile;
      int kept = keptPairs(entry, i0, i1, j0, j1);
      result.kept += kept;
      ++result.blocks;
      result.full += kept == pairs;
      result.empty += kept == 0;
      if (kept) {
        firstNeeded = firstNeeded < 0 ? j0 / tile : firstNeeded;
        lastNeeded = j0 / tile;
      }
      bool inBounds = j1 - 1 >= bounds[0] && j0 <= bounds[1];
      result.inBounds += inBounds;
      for (int64_t j = j0; j < j1; ++j)
        if (j < bounds[0] || j > bounds[1])
          result.wrong += keptPairs(entry, i0, i1, j, j + 1);
      if (!classified)
        continue;
      SmallVector<int64_t> verdict =
          folder.run(loop.getClassify(), {i0, i1 - 1, j0, j1 - 1});
      bool any = verdict[0], all = verdict[1];
      result.skipped += !any || !inBounds;
      result.bare += any && all && inBounds;
      result.wrong += (!any && kept != 0) || (all && kept != pairs);
    }
    result.inTightest += lastNeeded - firstNeeded + 1;
  }
  return classified ? result : analyseWithoutRegions(result);
}
