// Verifiers of the operators on tensors (levels spec and online), and of what
// regions may hold.
#include "dialect/AssemblyFormat.h"
#include "dialect/AttnOps.h"
#include "dialect/Diagnostics.h"
#include "dialect/RegionVerifier.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/Matchers.h"

#include <cmath>

using namespace mlir;
using namespace qm;
using namespace qm::attn;
using diag::Id;

/// Verifies one region written as a lambda: arguments, operations, result.
LogicalResult qm::attn::verifyLambda(Operation *op, Region &region, Lambda kind,
                                     StringRef what) {
  if (region.empty())
    return success();
  MLIRContext *context = op->getContext();
  if (!region.hasOneBlock())
    return diag::help(diag::error(op, Id::BadRegion)
                          << what << " has several blocks",
                      "use arith.select for a choice");
  SmallVector<Type> wanted = getLambdaTypes(kind, context);
  if (!llvm::equal(region.getArgumentTypes(), wanted))
    return diag::help(diag::error(op, Id::BadRegion)
                          << what << " takes (" << wanted << "), not ("
                          << region.getArgumentTypes() << ")",
                      "a score takes (%s, %b, %h, %i, %j), a mask (%b, %h, %i, "
                      "%j), a sink (%b, %h)");
  for (Operation &inner : region.front().without_terminator()) {
    bool known =
        isa<LoadOp, ExtentOp>(inner) ||
        (isa<SearchOp>(inner) && kind == Lambda::Bounds) ||
        (isa<ExtremaOp>(inner) &&
         (kind == Lambda::Bounds || kind == Lambda::Classify)) ||
        (isa<arith::ArithDialect, math::MathDialect>(inner.getDialect()) &&
         inner.getNumResults() == 1);
    bool scalar = llvm::all_of(inner.getResultTypes(),
                               [](Type type) { return type.isIntOrFloat(); });
    if (!known || !scalar || inner.getNumRegions() != 0)
      return diag::help(
          diag::error(&inner, Id::RegionOpNotAllowed)
              << "'" << inner.getName() << "' cannot stand in " << what,
          "use scalar arith and math operations of one result, attn.load and "
          "attn.extent");
  }
  auto yield = dyn_cast<YieldOp>(region.front().back());
  SmallVector<Type> results = getLambdaResults(kind, context);
  if (!yield || !llvm::equal(yield.getOperandTypes(), results))
    return diag::help(
        diag::error(&region.front().back(), Id::BadRegion)
            << what << " must end with attn.yield of (" << results << ")",
        kind == Lambda::Mask || kind == Lambda::TileMask
            ? "a mask decides with i1; an additive bias belongs into score"
            : "see the description of the operation");
  return success();
}

LogicalResult qm::attn::verifyLengths(Operation *op, Block *block,
                                      ValueRange lengths, bool packed,
                                      TypeRange tensors) {
  auto wrong = [&] { return diag::error(op, Id::BadLengths); };
  StringRef help = "write packed(%cu_q, %cu_kv) with two arguments of type "
                   "tensor<?xi32>, or padded(%len_q, %len_kv)";
  if (lengths.empty() && !packed)
    return success();
  if (lengths.size() != 2)
    return diag::help(wrong() << lengths.size()
                              << " lengths; one for the queries and one for "
                                 "the keys needed",
                      help);
  for (Value value : lengths)
    if (auto argument = dyn_cast<BlockArgument>(value);
        !argument || argument.getOwner() != block)
      return diag::help(wrong() << "lengths are computed here; they must be "
                                   "arguments",
                        help);
  if (!packed)
    return success();
  for (Type type : tensors)
    if (cast<RankedTensorType>(type).getDimSize(0) != 1)
      return diag::help(wrong() << "packed sequences lie in tensors with a "
                                   "batch extent of 1, not "
                                << type,
                        "write [1, heads, tokens, head dim]: sequences lie one "
                        "after the other along the tokens");
  return success();
}

/// Regions of a function-level operator may use its function's arguments only.
static LogicalResult verifyCaptures(Operation *op, Region &region) {
  Block *entry = op->getBlock();
  WalkResult result = region.walk([&](Operation *inner) {
    for (Value operand : inner->getOperands()) {
      if (region.isAncestor(operand.getParentRegion()))
        continue;
      if (auto argument = dyn_cast<BlockArgument>(operand);
          argument && argument.getOwner() == entry)
        continue;
      (void)diag::help(diag::error(inner, Id::CaptureNotArgument)
                           << "operand of type " << operand.getType()
                           << " is computed outside the region",
                       "compute it inside, or pass it as an argument");
      return WalkResult::interrupt();
    }
    return WalkResult::advance();
  });
  return failure(result.wasInterrupted());
}

/// A constant index that its buffer does not have is a mistake of the user's.
/// (Passes may make such an index, of what is known to be clamped.)
static LogicalResult verifyGathers(Region &region) {
  WalkResult result = region.walk([](LoadOp load) {
    auto buffer = cast<RankedTensorType>(load.getBuffer().getType());
    for (auto [dimension, index] : llvm::enumerate(load.getIndices())) {
      IntegerAttr constant;
      if (!matchPattern(index, m_Constant(&constant)))
        continue;
      int64_t at = constant.getInt(), extent = buffer.getDimSize(dimension);
      if (at >= 0 && (ShapedType::isDynamic(extent) || at < extent))
        continue;
      (void)diag::help(diag::error(load, Id::GatherOutsideBuffer)
                           << "index " << at << " is outside of dimension "
                           << dimension << " of " << buffer,
                       "indices start at 0; an index that is computed is "
                       "clamped to the buffer");
      return WalkResult::interrupt();
    }
    return WalkResult::advance();
  });
  return failure(result.wasInterrupted());
}

/// Ranks, extents and element types that `attn.attention` and `attn.online`
/// share.
static LogicalResult verifyOperands(Operation *op, RankedTensorType q,
                                    RankedTensorType k, RankedTensorType v) {
  for (auto [name, type] : {std::pair("q", q), {"k", k}, {"v", v}})
    if (type.getRank() != 4)
      return diag::help(diag::error(op, Id::WrongRank)
                            << name << " has rank " << type.getRank()
                            << ", 4 needed: " << type,
                        "write it as [batch, heads, sequence, head dim]");
  for (auto [name, type] : {std::pair("q", q), {"k", k}, {"v", v}}) {
    if (type.isDynamicDim(1) || type.isDynamicDim(3))
      return diag::help(diag::error(op, Id::ExtentNotStatic)
                            << "heads and head dim of " << name
                            << " must be numbers: " << type,
                        "only batch and sequence length may be '?'");
    if (type.getDimSize(1) < 1 || type.getDimSize(3) < 1)
      return diag::help(diag::error(op, Id::ShapeMismatch)
                            << "heads and head dim of " << name
                            << " must be positive: " << type,
                        "give at least one head, and a head dim of at least 1");
    if (type.getElementType() != q.getElementType())
      return diag::help(diag::error(op, Id::ElementTypeMismatch)
                            << "q holds " << q.getElementType() << ", " << name
                            << " holds " << type.getElementType(),
                        "cast before the call");
  }
  auto mustAgree = [&](StringRef what, int64_t a, int64_t b) -> LogicalResult {
    if (a == b || ShapedType::isDynamic(a) || ShapedType::isDynamic(b))
      return success();
    return diag::help(
        diag::error(op, Id::ShapeMismatch)
            << what << " differs: " << a << " and " << b,
        "only q may have more heads, and v a head dim of its own");
  };
  if (failed(mustAgree("batch of q and k", q.getDimSize(0), k.getDimSize(0))) ||
      failed(mustAgree("batch of q and v", q.getDimSize(0), v.getDimSize(0))) ||
      failed(mustAgree("number of heads of k and v", k.getDimSize(1),
                       v.getDimSize(1))) ||
      failed(mustAgree("key length of k and v", k.getDimSize(2),
                       v.getDimSize(2))) ||
      failed(
          mustAgree("head dim of q and k", q.getDimSize(3), k.getDimSize(3))))
    return failure();
  if (q.getDimSize(1) % k.getDimSize(1) != 0)
    return diag::help(diag::error(op, Id::HeadsNotDivisible)
                          << q.getDimSize(1)
                          << " query heads are not a multiple of "
                          << k.getDimSize(1) << " key/value heads",
                      "choose a number of key/value heads that divides " +
                          Twine(q.getDimSize(1)));
  return success();
}

template <typename Op>
static LogicalResult verifyModifiers(Op op) {
  if (failed(verifyLengths(op, op->getBlock(), op.getLengths(), op.getPacked(),
                           op->getOperands().take_front(3).getTypes())))
    return failure();
  if (failed(
          verifyLambda(op, op.getScore(), Lambda::Score, "a score region")) ||
      failed(verifyLambda(op, op.getMask(), Lambda::Mask, "a mask region")) ||
      failed(verifyCaptures(op, op.getScore())) ||
      failed(verifyCaptures(op, op.getMask())) ||
      failed(verifyGathers(op.getScore())) ||
      failed(verifyGathers(op.getMask())))
    return failure();
  return success();
}

template <typename Op>
static LogicalResult verifySink(Op op) {
  return success(succeeded(verifyLambda(op, op.getSink(), Lambda::Sink,
                                        "a sink region")) &&
                 succeeded(verifyCaptures(op, op.getSink())) &&
                 succeeded(verifyGathers(op.getSink())));
}

/// lse, then the row maximum: one f32 a row of the output `o`.
template <typename Op>
static LogicalResult verifyStatistics(Op op, RankedTensorType o) {
  auto rows = RankedTensorType::get(o.getShape().drop_back(),
                                    Float32Type::get(op.getContext()));
  unsigned count = op.getStatistics().size(), maxima = op.getRowMax();
  if (count < maxima || count > maxima + 1)
    return diag::help(
        diag::error(op, Id::ShapeMismatch)
            << count << " results after o; "
            << (maxima ? "row_max, or lse and row_max" : "lse or none")
            << " expected",
        "`row_max` asks for the maximum as the last result; lse "
        "comes before it");
  for (auto [index, statistic] : llvm::enumerate(op.getStatistics()))
    if (statistic.getType() != rows)
      return diag::help(diag::error(op, Id::ShapeMismatch)
                            << (index + maxima == count ? "row_max" : "lse")
                            << " is " << statistic.getType()
                            << ", the operands make it " << rows,
                        "it is one f32 a row of o");
  return success();
}

template <typename Op>
static void nameModifierArguments(Op op, Region &region,
                                  OpAsmSetValueNameFn setName) {
  Lambda kind = &region == &op.getScore()  ? Lambda::Score
                : &region == &op.getMask() ? Lambda::Mask
                                           : Lambda::Sink;
  for (auto [argument, name] :
       llvm::zip(region.getArguments(), getLambdaNames(kind)))
    setName(argument, name);
}

//===----------------------------------------------------------------------===//
// attn.attention
//===----------------------------------------------------------------------===//

float AttentionOp::getScaleOrDefault() {
  if (std::optional<APFloat> scale = getScale())
    return scale->convertToFloat();
  return 1.0f / std::sqrt(float(getQ().getType().getDimSize(3)));
}

LogicalResult AttentionOp::verify() {
  RankedTensorType q = getQ().getType(), k = getK().getType(),
                   v = getV().getType(), o = getO().getType();
  if (failed(verifyOperands(*this, q, k, v)))
    return failure();
  auto wanted = RankedTensorType::get(
      {q.getDimSize(0), q.getDimSize(1), q.getDimSize(2), v.getDimSize(3)},
      q.getElementType());
  if (o.getRank() != 4)
    return diag::help(diag::error(*this, Id::WrongRank)
                          << "o has rank " << o.getRank() << ", 4 needed",
                      "write it as [batch, heads, sequence, head dim]");
  if (o != wanted)
    return diag::help(diag::error(*this, Id::ShapeMismatch)
                          << "o is " << o << ", the operands make it "
                          << wanted,
                      "o has batch, heads, rows and element type of q, and the "
                      "head dim of v");
  return verifyStatistics(*this, wanted);
}

LogicalResult AttentionOp::verifyRegions() {
  return success(succeeded(verifyModifiers(*this)) &&
                 succeeded(verifySink(*this)));
}

void AttentionOp::getAsmBlockArgumentNames(Region &region,
                                           OpAsmSetValueNameFn setName) {
  nameModifierArguments(*this, region, setName);
}

//===----------------------------------------------------------------------===//
// attn.normalize_rows
//===----------------------------------------------------------------------===//

LogicalResult NormalizeRowsOp::verify() {
  return verifyStatistics(*this, cast<RankedTensorType>(getO().getType()));
}

LogicalResult NormalizeRowsOp::verifyRegions() { return verifySink(*this); }

void NormalizeRowsOp::getAsmBlockArgumentNames(Region &region,
                                               OpAsmSetValueNameFn setName) {
  for (auto [argument, name] :
       llvm::zip(region.getArguments(), getLambdaNames(Lambda::Sink)))
    setName(argument, name);
}

//===----------------------------------------------------------------------===//
// attn.online
//===----------------------------------------------------------------------===//

LogicalResult OnlineOp::verify() {
  RankedTensorType q = getQ().getType(), v = getV().getType();
  if (failed(verifyOperands(*this, q, getK().getType(), v)))
    return failure();
  Type f32 = Float32Type::get(getContext());
  auto rows = RankedTensorType::get(q.getShape().drop_back(), f32);
  auto acc = RankedTensorType::get(
      {q.getDimSize(0), q.getDimSize(1), q.getDimSize(2), v.getDimSize(3)},
      f32);
  if (getAcc().getType() != acc || getMax().getType() != rows ||
      getSum().getType() != rows)
    return diag::help(diag::error(*this, Id::ShapeMismatch)
                          << "results must be " << acc << ", " << rows << ", "
                          << rows,
                      "they are the accumulator, the running maximum and the "
                      "running sum, in f32");
  return success();
}

LogicalResult OnlineOp::verifyRegions() { return verifyModifiers(*this); }

void OnlineOp::getAsmBlockArgumentNames(Region &region,
                                        OpAsmSetValueNameFn setName) {
  nameModifierArguments(*this, region, setName);
}

//===----------------------------------------------------------------------===//
// attn.load, attn.search
//===----------------------------------------------------------------------===//

LogicalResult LoadOp::verify() {
  auto buffer = cast<RankedTensorType>(getBuffer().getType());
  if (int64_t(getIndices().size()) != buffer.getRank())
    return diag::help(diag::error(*this, Id::LoadRankMismatch)
                          << getIndices().size()
                          << " indices into a buffer of rank "
                          << buffer.getRank() << ": " << buffer,
                      "give one index a dimension");
  Type element = buffer.getElementType();
  bool supported =
      isa<Float16Type, BFloat16Type, Float32Type, Float64Type>(element) ||
      element.isSignlessInteger(8) || element.isSignlessInteger(16) ||
      element.isSignlessInteger(32) || element.isSignlessInteger(64);
  if (!supported)
    return diag::help(
        diag::error(*this, Id::BadCaptureType)
            << "a buffer of " << element << " cannot be captured",
        "use f16, bf16, f32, f64, i8, i16, i32 or i64; booleans as i8");
  if (getResult().getType() != element)
    return diag::help(
        diag::error(*this, Id::ElementTypeMismatch)
            << "the result of a gather from " << buffer << " is " << element,
        "convert it after the gather, with arith.extf, arith.extsi "
        "and the like");
  return success();
}

LogicalResult SearchOp::verify() {
  auto buffer = cast<RankedTensorType>(getBuffer().getType());
  if (int64_t(getIndices().size()) + 1 != buffer.getRank())
    return diag::help(diag::error(*this, Id::LoadRankMismatch)
                          << getIndices().size()
                          << " indices for a search in a buffer of rank "
                          << buffer.getRank() << ": " << buffer,
                      "give one index for each dimension but the last");
  Type element = buffer.getElementType();
  if (!element.isSignlessInteger(8) && !element.isSignlessInteger(16) &&
      !element.isSignlessInteger(32))
    return diag::help(diag::error(*this, Id::BadCaptureType)
                          << "a buffer of " << element << " cannot be searched",
                      "search in i8, i16 or i32");
  return success();
}

LogicalResult ExtremaOp::verify() {
  auto buffer = cast<RankedTensorType>(getBuffer().getType());
  if (int64_t(getIndices().size()) != buffer.getRank() ||
      getDimension() >= uint64_t(buffer.getRank()))
    return diag::help(diag::error(*this, Id::LoadRankMismatch)
                          << getIndices().size()
                          << " indices and a range along dimension "
                          << getDimension() << " for a buffer of rank "
                          << buffer.getRank() << ": " << buffer,
                      "give one index for each dimension of the buffer");
  Type element = buffer.getElementType();
  if (!element.isSignlessInteger(8) && !element.isSignlessInteger(16) &&
      !element.isSignlessInteger(32) && !element.isSignlessInteger(64))
    return diag::help(diag::error(*this, Id::BadCaptureType)
                          << "a buffer of " << element << " has no extrema",
                      "use i8, i16, i32 or i64");
  return success();
}
