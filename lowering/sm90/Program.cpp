// Takes a scheduled kernel apart by role.
#include "lowering/sm90/Program.h"

#include "dialect/Diagnostics.h"
#include "lowering/common/KeyCondition.h"
#include "lowering/common/KeyEnd.h"
#include "lowering/gpu/ElementRegion.h"

#include <cmath>
#include <limits>

using namespace mlir;
using namespace qm;
using namespace qm::sm90;
using diag::Id;

static InFlightDiagnostic unsupported(Operation *op) {
  return diag::error(op, Id::KernelShapeNotSupported);
}

bool Program::hasMask() const {
  return llvm::any_of(chain,
                      [](Operation *op) { return isa<attn::MaskOp>(op); });
}

bool Program::readsLengths() {
  Region &bounds = loop.getBounds();
  return !bounds.empty() && lowering::endsAtLength(bounds);
}

/// Fills `slot` with `op`; a second operation of its kind is refused.
template <class Op>
static LogicalResult takeOnce(Op &slot, Op op) {
  if (slot)
    return unsupported(op) << "a second " << op->getName() << " is not one of "
                           << "the products and statistics of attention";
  slot = op;
  return success();
}

static LogicalResult takeFrame(Program &program) {
  for (Operation &op : program.kernel.getBody().front()) {
    LogicalResult taken = success();
    if (auto position = dyn_cast<attn::TilePositionOp>(op))
      taken = takeOnce(program.position, position);
    else if (auto load = dyn_cast<attn::LoadTileOp>(op))
      taken = takeOnce(program.query, load);
    else if (auto loop = dyn_cast<attn::KeyBlocksOp>(op))
      taken = takeOnce(program.loop, loop);
    else if (auto normalize = dyn_cast<attn::NormalizeOp>(op))
      taken = takeOnce(program.normalize, normalize);
    else if (auto store = dyn_cast<attn::StoreTileOp>(op))
      taken = takeOnce(store.getDestination() == program.kernel.getO()
                           ? program.storeOutput
                       : store.getDestination() == program.kernel.getLse()
                           ? program.storeLse
                           : program.storeMax,
                       store);
    else if (isa<attn::MapOp, attn::CastOp>(op))
      taken = unsupported(&op) << op.getName()
                               << " outside the loop has no machine code on "
                                  "sm_90a";
    else if (!isa<attn::FillOp>(op))
      program.scalars.push_back(&op);
    if (failed(taken))
      return failure();
  }
  if (!program.position || !program.query || !program.loop ||
      !program.normalize || !program.storeOutput)
    return unsupported(program.kernel)
           << "a tile position, a query tile, a loop over key blocks, a "
              "normalised output and its store are needed";
  return success();
}

static LogicalResult takeLoop(Program &program) {
  Block &body = program.loop.getBody().front();
  for (Operation &op : body.without_terminator()) {
    LogicalResult taken = success();
    if (auto load = dyn_cast<attn::LoadTileOp>(op))
      taken =
          takeOnce(load.getSource() == program.kernel.getK() ? program.keys
                                                             : program.values,
                   load);
    else if (auto dot = dyn_cast<attn::DotOp>(op))
      taken = takeOnce(program.scores, dot);
    else if (auto softmax = dyn_cast<attn::OnlineSoftmaxOp>(op))
      taken = takeOnce(program.softmax, softmax);
    else if (auto accumulate = dyn_cast<attn::AccumulateOp>(op))
      taken = takeOnce(program.accumulate, accumulate);
    else if (isa<attn::MapOp, attn::MaskOp>(op))
      program.chain.push_back(&op);
    else if (!isa<attn::CastOp>(op))
      taken = unsupported(&op)
              << op.getName() << " in the loop has no machine code on sm_90a";
    if (failed(taken))
      return failure();
  }
  if (!program.keys || !program.values || !program.scores || !program.softmax ||
      !program.accumulate)
    return unsupported(program.loop)
           << "key and value tiles, two products and a softmax are needed";
  for (attn::LoadTileOp load : {program.keys, program.values})
    if (load.getRow() != body.getArgument(0))
      return unsupported(load) << "the loop loads tiles at the first key of "
                                  "the block";
  return success();
}

/// `tile`, or what it is a cast of.
static Value withoutCast(Value tile) {
  auto cast = tile.getDefiningOp<attn::CastOp>();
  return cast ? cast.getTile() : tile;
}

/// Checks that every operand is what the pipeline takes it to be.
static LogicalResult checkFlow(Program &program) {
  Block &body = program.loop.getBody().front();
  auto yield = cast<attn::YieldOp>(body.getTerminator());
  auto check = [](Operation *op, bool holds, StringRef what) -> LogicalResult {
    if (holds)
      return success();
    return unsupported(op) << what;
  };
  Value scores = program.scores.getResult();
  for (Operation *op : program.chain) {
    if (failed(check(op, op->getOperand(0) == scores && scores.hasOneUse(),
                     "maps and masks are one chain from scores to softmax")))
      return failure();
    scores = op->getResult(0);
  }
  auto softmax = program.softmax;
  auto accumulate = program.accumulate;
  auto normalize = program.normalize;
  // Which carried tile is what: the softmax and the accumulation say.
  auto carried = [&](Value argument) -> int {
    auto block = dyn_cast<BlockArgument>(argument);
    return block && block.getOwner() == &body ? int(block.getArgNumber()) - 1
                                              : -1;
  };
  int max = carried(softmax.getMax()), sum = carried(softmax.getSum()),
      acc = carried(accumulate.getAcc());
  if (failed(check(program.loop, max >= 0 && sum >= 0 && acc >= 0,
                   "maximum, sum and accumulator are carried by the loop")))
    return failure();
  auto init = [&](int index, float value) {
    auto fill = program.loop.getInits()[index].getDefiningOp<attn::FillOp>();
    return fill && fill.getValue().convertToFloat() == value;
  };
  constexpr float infinity = std::numeric_limits<float>::infinity();
  return success(
      succeeded(check(program.scores,
                      program.scores.getLhs() == program.query.getTile() &&
                          program.scores.getRhs() == program.keys.getTile(),
                      "scores are the query tile times the key tile")) &&
      succeeded(check(softmax, softmax.getScores() == scores,
                      "the softmax is of the scores")) &&
      succeeded(check(accumulate,
                      withoutCast(accumulate.getP()) == softmax.getP() &&
                          accumulate.getV() == program.values.getTile() &&
                          accumulate.getAlpha() == softmax.getAlpha(),
                      "the accumulation is of the softmax's probabilities and "
                      "the value tile, scaled by alpha")) &&
      succeeded(check(program.loop,
                      yield.getValues()[max] == softmax.getNewMax() &&
                          yield.getValues()[sum] == softmax.getNewSum() &&
                          yield.getValues()[acc] == accumulate.getResult() &&
                          init(max, -infinity) && init(sum, 0) && init(acc, 0),
                      "maximum, sum and accumulator start at -inf, 0 and 0 and "
                      "become those of the block")) &&
      succeeded(check(normalize,
                      normalize.getMax() == program.loop.getResult(max) &&
                          normalize.getSum() == program.loop.getResult(sum) &&
                          normalize.getAcc() == program.loop.getResult(acc),
                      "the output is the loop's accumulator, normalised")) &&
      succeeded(check(program.storeOutput,
                      program.storeOutput.getTile() == normalize.getO(),
                      "the output is stored")) &&
      succeeded(check(normalize,
                      !program.storeLse ||
                          program.storeLse.getTile() == normalize.getLse(),
                      "the output `lse` is the lse")) &&
      succeeded(check(normalize,
                      !program.storeMax ||
                          program.storeMax.getTile() == normalize.getRowMax(),
                      "the last output is the row maximum")));
}

/// Refuses operations of regions that have no machine code, at the user's line.
static LogicalResult checkRegions(attn::KernelOp kernel) {
  WalkResult result = kernel.walk([&](Operation *op) {
    if (isa<attn::AttnDialect>(op->getDialect()))
      return WalkResult::advance();
    std::optional<std::string> why = gpu::whyUnsupported(*op);
    if (!why)
      return WalkResult::advance();
    (void)diag::help(diag::error(op, Id::OperationNotSupported) << *why,
                     "compute in f32 and i32, or use --arch=cpu");
    return WalkResult::interrupt();
  });
  return failure(result.wasInterrupted());
}

FailureOr<Program> Program::get(attn::KernelOp kernel) {
  Program program = {};
  program.kernel = kernel;
  if (failed(takeFrame(program)) || failed(takeLoop(program)) ||
      failed(checkFlow(program)) || failed(checkRegions(kernel)))
    return failure();
  program.paddingCondition = lowering::conditionOnKeys(program.loop);
  std::optional<APFloat> scale = program.softmax.getExp2Scale();
  program.exponentFactor = scale ? scale->convertToFloat() : float(M_LOG2E);
  std::optional<APFloat> bound = program.softmax.getBound();
  program.scoreBound = bound ? bound->convertToFloat() * program.exponentFactor
                             : std::numeric_limits<float>::infinity();
  if (!(program.exponentFactor > 0.0f &&
        program.exponentFactor < std::numeric_limits<float>::infinity()))
    return diag::help(diag::error(program.softmax, Id::ScaleNotSupported)
                          << "the exponent's factor is "
                          << program.exponentFactor
                          << "; it has to be positive and finite",
                      "use a positive scale, and negate the scores in a score "
                      "modifier");
  return program;
}
