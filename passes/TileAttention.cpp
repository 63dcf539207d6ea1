// online -> tiled: a function with attn.online and attn.normalize_rows becomes
// an attn.kernel, the program of one query tile.
#include "dialect/Diagnostics.h"
#include "passes/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/IRMapping.h"

#include <limits>

using namespace mlir;
using namespace qm;
using diag::Id;

namespace qm::passes {
#define GEN_PASS_DEF_TILEATTENTION
#include "passes/Passes.h.inc"
} // namespace qm::passes

namespace {

constexpr int64_t open = ShapedType::kDynamic;

/// The two operators of a function that can be tiled.
struct Pattern {
  attn::OnlineOp online;
  attn::NormalizeRowsOp normalize;
};

/// Checks that the function is attention over its arguments and nothing else.
FailureOr<Pattern> match(func::FuncOp function) {
  auto reject = [&](Operation *where, const Twine &why) {
    return diag::help(diag::error(where, Id::FunctionShape) << why,
                      "write func.func @name(%q, %k, %v, captures...) with one "
                      "attn.attention and a return of its results");
  };
  Block &body = function.getBody().front();
  Pattern pattern;
  for (Operation &op : body.without_terminator()) {
    if (auto online = dyn_cast<attn::OnlineOp>(op); online && !pattern.online)
      pattern.online = online;
    else if (auto normalize = dyn_cast<attn::NormalizeRowsOp>(op);
             normalize && !pattern.normalize)
      pattern.normalize = normalize;
    else
      return reject(&op, "'" + op.getName().getStringRef() +
                             "' stands beside the attention operator");
  }
  if (!pattern.online || !pattern.normalize)
    return reject(function, "the function holds no attention operator at the "
                            "online level");
  attn::OnlineOp online = pattern.online;
  for (auto [index, operand] :
       llvm::enumerate(ValueRange{online.getQ(), online.getK(), online.getV()}))
    if (operand != body.getArgument(index))
      return reject(online, "q, k and v are not the function's first three "
                            "arguments in this order");
  for (BlockArgument capture : body.getArguments().drop_front(3)) {
    Type type = capture.getType();
    if (!isa<RankedTensorType>(type) && !type.isInteger(32) && !type.isF32())
      return reject(function, "argument " + Twine(capture.getArgNumber()) +
                                  " is neither a tensor nor i32 nor f32");
  }
  if (!llvm::equal(body.getTerminator()->getOperands(),
                   pattern.normalize->getResults()))
    return reject(body.getTerminator(),
                  "the function does not return what the operator yields");
  return pattern;
}

/// Builds the kernel's body; one object a kernel.
class KernelBuilder {
public:
  KernelBuilder(OpBuilder &builder, func::FuncOp function, Pattern pattern)
      : builder(builder), loc(pattern.online.getLoc()), function(function),
        online(pattern.online), normalize(pattern.normalize) {}

  void build() {
    attn::KernelOp kernel = createKernel();
    builder.setInsertionPointToStart(&kernel.getBody().front());
    auto position = attn::TilePositionOp::create(
        builder, loc, i32(), i32(), i32(), mapLengths(), online.getPacked());
    batch = position.getBatch(), head = position.getHead(),
    row = position.getRow();
    kvHead = createKvHead();
    auto [q, k, v] = std::tuple(kernel.getQ(), kernel.getK(), kernel.getV());

    Value qTile = loadTile(q, head, row);
    int64_t valueDim = cast<RankedTensorType>(v.getType()).getDimSize(3);
    TileType statistic = tile({open}), accumulator = tile({open, valueDim});
    Value inits[] = {fill(statistic, -std::numeric_limits<float>::infinity()),
                     fill(statistic, 0), fill(accumulator, 0)};
    auto loop = attn::KeyBlocksOp::create(builder, loc,
                                          TypeRange(ValueRange(inits)), inits);
    buildBody(loop, qTile, k, v);

    Value max = loop.getResult(0), sum = loop.getResult(1);
    auto rows = attn::NormalizeOp::create(
        builder, loc, accumulator, statistic,
        kernel.getMax() ? Type(statistic) : Type(), loop.getResult(2), max, sum,
        /*exp2_scale=*/FloatAttr());
    if (!normalize.getSink().empty())
      takeRegion(normalize.getSink(), rows.getSink(), 0);
    attn::StoreTileOp::create(builder, loc, rows.getO(), kernel.getO(), batch,
                              head, row);
    if (Value lse = kernel.getLse())
      attn::StoreTileOp::create(builder, loc, rows.getLse(), lse, batch, head,
                                row);
    if (Value rowMax = kernel.getMax())
      attn::StoreTileOp::create(builder, loc, rows.getRowMax(), rowMax, batch,
                                head, row);
  }

private:
  using TileType = attn::TileType;

  Type i32() { return builder.getI32Type(); }
  TileType tile(ArrayRef<int64_t> shape) {
    return TileType::get(builder.getContext(), shape, builder.getF32Type());
  }
  Value fill(TileType type, float value) {
    return attn::FillOp::create(builder, loc, type,
                                builder.getF32FloatAttr(value));
  }
  Value loadTile(Value source, Value ofHead, Value first) {
    auto tensor = cast<RankedTensorType>(source.getType());
    auto type =
        TileType::get(builder.getContext(), {open, tensor.getDimSize(3)},
                      tensor.getElementType());
    return attn::LoadTileOp::create(builder, loc, type, source, batch, ofHead,
                                    first);
  }

  attn::KernelOp createKernel() {
    SmallVector<Type> types(function.getArgumentTypes());
    SmallVector<Location> locs(types.size() + normalize->getNumResults(), loc);
    SmallVector<StringRef> names = {"q", "k", "v"};
    SmallVector<std::string> generated(types.size());
    for (unsigned index = 3; index < types.size(); ++index) {
      auto name = function.getArgAttrOfType<StringAttr>(index, "attn.name");
      generated[index] = "arg" + std::to_string(index);
      names.push_back(name ? name.getValue() : StringRef(generated[index]));
    }
    names.push_back("o");
    bool rowMax = normalize.getRowMax();
    if (normalize.getStatistics().size() > rowMax)
      names.push_back("lse");
    if (rowMax)
      names.push_back("row_max");
    llvm::append_range(types, normalize->getResultTypes());
    auto kernel = attn::KernelOp::create(
        builder, loc, function.getSymNameAttr(), builder.getStrArrayAttr(names),
        builder.getI64IntegerAttr(normalize->getNumResults()),
        normalize.getRowMaxAttr(), attn::PrecisionAttr(), attn::ScheduleAttr());
    SmallVector<NamedAttribute> follows;
    for (unsigned index = 3; index < function.getNumArguments(); ++index)
      if (Attribute list = function.getArgAttr(index, "attn.follows"))
        follows.emplace_back(builder.getStringAttr(names[index]), list);
    if (!follows.empty())
      kernel->setAttr("attn.follows", builder.getDictionaryAttr(follows));
    Block &block = kernel.getBody().emplaceBlock();
    block.addArguments(types, locs);
    captures.map(function.getArguments(),
                 block.getArguments().take_front(function.getNumArguments()));
    return kernel;
  }

  SmallVector<Value> mapLengths() {
    return llvm::map_to_vector(online.getLengths(), [&](Value lengths) {
      return captures.lookup(lengths);
    });
  }

  /// kv head = h / (Hq / Hkv)
  Value createKvHead() {
    int64_t group = online.getQ().getType().getDimSize(1) /
                    online.getK().getType().getDimSize(1);
    if (group == 1)
      return head;
    Value size = arith::ConstantOp::create(builder, loc,
                                           builder.getI32IntegerAttr(group));
    return arith::DivUIOp::create(builder, loc, head, size);
  }

  void buildBody(attn::KeyBlocksOp loop, Value qTile, Value k, Value v) {
    OpBuilder::InsertionGuard guard(builder);
    Block *body = builder.createBlock(&loop.getBody());
    Value column = body->addArgument(i32(), loc);
    body->addArguments(loop.getResultTypes(),
                       SmallVector<Location>(loop.getNumResults(), loc));
    Value max = body->getArgument(1), sum = body->getArgument(2),
          acc = body->getArgument(3);

    Value kTile = loadTile(k, kvHead, column);
    Value scores =
        attn::DotOp::create(builder, loc, tile({open, open}), qTile, kTile);
    scores = scale(scores, column);
    if (!online.getScore().empty())
      scores = mapScores(scores, column);
    if (!online.getMask().empty())
      scores = maskScores(scores, column);
    auto softmax = attn::OnlineSoftmaxOp::create(
        builder, loc, max.getType(), sum.getType(), scores.getType(),
        max.getType(), scores, max, sum, /*exp2_scale=*/FloatAttr(),
        /*bound=*/FloatAttr());
    Value vTile = loadTile(v, kvHead, column);
    Value next =
        attn::AccumulateOp::create(builder, loc, acc.getType(), softmax.getP(),
                                   vTile, acc, softmax.getAlpha());
    attn::YieldOp::create(
        builder, loc,
        ValueRange{softmax.getNewMax(), softmax.getNewSum(), next});
  }

  Value scale(Value scores, Value column) {
    auto map = attn::MapOp::create(builder, loc, scores.getType(), scores, row,
                                   column);
    OpBuilder::InsertionGuard guard(builder);
    Block *block = builder.createBlock(&map.getBody(), {},
                                       {builder.getF32Type(), i32(), i32()},
                                       {loc, loc, loc});
    Value factor =
        arith::ConstantOp::create(builder, loc, online.getScaleAttr());
    Value scaled =
        arith::MulFOp::create(builder, loc, block->getArgument(0), factor);
    attn::YieldOp::create(builder, loc, scaled);
    return map.getResult();
  }

  /// Moves a spec region into a tile region; its first `keep` arguments and
  /// those after batch and head (query, key) stay arguments, batch and head
  /// become the tile's.
  void takeRegion(Region &from, Region &to, unsigned keep) {
    from.cloneInto(&to, captures);
    Block &block = to.front();
    block.getArgument(keep).replaceAllUsesWith(batch);
    block.getArgument(keep + 1).replaceAllUsesWith(head);
    block.eraseArguments(keep, 2);
  }

  Value mapScores(Value scores, Value column) {
    auto map = attn::MapOp::create(builder, loc, scores.getType(), scores, row,
                                   column);
    takeRegion(online.getScore(), map.getBody(), 1);
    return map.getResult();
  }

  Value maskScores(Value scores, Value column) {
    auto mask = attn::MaskOp::create(builder, loc, scores.getType(), scores,
                                     row, column);
    takeRegion(online.getMask(), mask.getBody(), 0);
    return mask.getResult();
  }

  OpBuilder &builder;
  Location loc;
  func::FuncOp function;
  attn::OnlineOp online;
  attn::NormalizeRowsOp normalize;
  IRMapping captures;
  Value batch, head, row, kvHead;
};

struct TileAttention : qm::passes::impl::TileAttentionBase<TileAttention> {
  void runOnOperation() override {
    SmallVector<func::FuncOp> functions(getOperation().getOps<func::FuncOp>());
    for (func::FuncOp function : functions) {
      if (function.isDeclaration())
        continue;
      FailureOr<Pattern> pattern = match(function);
      if (failed(pattern))
        return signalPassFailure();
      OpBuilder builder(function);
      KernelBuilder(builder, function, *pattern).build();
      function.erase();
      ++numKernels;
    }
  }
};

} // namespace
