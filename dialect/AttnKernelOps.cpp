// The operators on tiles (levels tiled to scheduled): syntax of attn.kernel and
// attn.key_blocks, and verifiers.
#include "dialect/AssemblyFormat.h"
#include "dialect/AttnOps.h"
#include "dialect/Diagnostics.h"
#include "dialect/RegionVerifier.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"

using namespace mlir;
using namespace qm;
using namespace qm::attn;
using diag::Id;

#define GET_OP_CLASSES
#include "dialect/AttnOps.cpp.inc"

/// Kernels are made by passes; whoever writes one by hand needs to see one.
static LogicalResult malformed(InFlightDiagnostic diagnostic) {
  return diag::help(std::move(diagnostic),
                    "dialect/README.md shows a kernel and what its operations "
                    "take");
}

/// Extents fit if they are equal; '?' fits only '?', so that one level never
/// mixes chosen and open extents.
static LogicalResult verifyTile(Operation *op, StringRef what, TileType type,
                                ArrayRef<int64_t> shape) {
  if (llvm::equal(type.getShape(), shape))
    return success();
  return malformed(diag::error(op, Id::TileMismatch)
                   << what << " is " << type << ", the other operands make it "
                   << type.withShape(shape));
}

//===----------------------------------------------------------------------===//
// attn.kernel
//===----------------------------------------------------------------------===//

ParseResult KernelOp::parse(OpAsmParser &parser, OperationState &result) {
  Builder &builder = parser.getBuilder();
  StringAttr name;
  SmallVector<OpAsmParser::Argument> arguments, outputs;
  auto parseArguments = [&](SmallVectorImpl<OpAsmParser::Argument> &list) {
    return parser.parseArgumentList(list, OpAsmParser::Delimiter::Paren,
                                    /*allowType=*/true);
  };
  if (parser.parseSymbolName(name, getSymNameAttrName(result.name),
                             result.attributes) ||
      parseArguments(arguments) || parser.parseKeyword("outs") ||
      parseArguments(outputs) ||
      parser.parseOptionalAttrDictWithKeyword(result.attributes))
    return failure();
  result.addAttribute(getNumOutputsAttrName(result.name),
                      builder.getI64IntegerAttr(outputs.size()));
  llvm::append_range(arguments, outputs);
  return parser.parseRegion(*result.addRegion(), arguments);
}

void KernelOp::print(OpAsmPrinter &printer) {
  printer << ' ';
  printer.printSymbolName(getSymName());
  auto printArguments = [&](Block::BlockArgListType list) {
    printer << '(';
    llvm::interleaveComma(list, printer, [&](BlockArgument argument) {
      printer.printRegionArgument(argument);
    });
    printer << ')';
  };
  printArguments(getArguments().take_front(getNumInputs()));
  printer << " outs";
  printArguments(getArguments().drop_front(getNumInputs()));
  printer.printOptionalAttrDictWithKeyword(
      (*this)->getAttrs(), {getSymNameAttrName(), getNumOutputsAttrName()});
  printer << ' ';
  printer.printRegion(getBody(), /*printEntryBlockArgs=*/false);
}

void KernelOp::getAsmBlockArgumentNames(Region &region,
                                        OpAsmSetValueNameFn setName) {
  for (auto [argument, name] : llvm::zip(
           region.getArguments(), getArgNames().getAsValueRange<StringAttr>()))
    setName(argument, name);
}

KeyBlocksOp KernelOp::getKeyBlocks() {
  auto loops = getBody().front().getOps<KeyBlocksOp>();
  return loops.empty() ? KeyBlocksOp() : *loops.begin();
}

TilePositionOp KernelOp::getPosition() {
  auto positions = getBody().front().getOps<TilePositionOp>();
  return positions.empty() ? TilePositionOp() : *positions.begin();
}

LogicalResult KernelOp::verify() {
  if (getArgNames().size() != getArguments().size())
    return malformed(diag::error(*this, Id::BadKernel)
                     << getArguments().size() << " arguments but "
                     << getArgNames().size() << " names");
  unsigned least = 1 + getRowMax();
  if (getNumOutputs() < least || getNumOutputs() > least + 1 ||
      getNumInputs() < 3)
    return malformed(diag::error(*this, Id::BadKernel)
                     << getNumInputs() << " inputs and " << getNumOutputs()
                     << " outputs; at least q, k, v and " << least << " or "
                     << least + 1 << " outputs needed");
  for (BlockArgument argument : {getQ(), getK(), getV(), getO()})
    if (auto type = dyn_cast<RankedTensorType>(argument.getType());
        !type || type.getRank() != 4)
      return malformed(diag::error(*this, Id::WrongRank)
                       << "q, k, v and o are tensors of rank 4, not "
                       << argument.getType());
  for (auto [name, statistic] :
       {std::pair("lse", getLse()), {"row_max", getMax()}})
    if (statistic)
      if (auto type = dyn_cast<RankedTensorType>(statistic.getType());
          !type || type.getRank() != 3)
        return malformed(diag::error(*this, Id::WrongRank)
                         << name << " is a tensor of rank 3, not "
                         << statistic.getType());
  return success();
}

LogicalResult KernelOp::verifyRegions() {
  if (!llvm::hasSingleElement(getBody().front().getOps<KeyBlocksOp>()))
    return malformed(diag::error(*this, Id::BadKernel)
                     << "a kernel has exactly one attn.key_blocks loop");
  auto positions = getBody().front().getOps<TilePositionOp>();
  if (positions.empty())
    return success();
  if (!llvm::hasSingleElement(positions))
    return malformed(diag::error(*this, Id::BadKernel)
                     << "a kernel asks for its tile's position once");
  TilePositionOp position = *positions.begin();
  return verifyLengths(position, &getBody().front(), position.getLengths(),
                       position.getPacked(),
                       TypeRange{getQ().getType(), getK().getType(),
                                 getV().getType(), getO().getType()});
}

//===----------------------------------------------------------------------===//
// attn.tile_position, attn.load_tile, attn.store_tile
//===----------------------------------------------------------------------===//

void TilePositionOp::getAsmResultNames(OpAsmSetValueNameFn setName) {
  setName(getBatch(), "b");
  setName(getHead(), "h");
  setName(getRow(), "i0");
}

LogicalResult LoadTileOp::verify() {
  auto source = cast<RankedTensorType>(getSource().getType());
  TileType tile = getTile().getType();
  if (source.getRank() != 4 || tile.getRank() != 2)
    return malformed(diag::error(*this, Id::WrongRank)
                     << "loads a tile of rank 2 from a tensor of rank 4, not "
                     << tile << " from " << source);
  if (tile.getColumns() != source.getDimSize(3) ||
      tile.getElementType() != source.getElementType())
    return malformed(diag::error(*this, Id::TileMismatch)
                     << "rows of " << source << " do not make " << tile);
  return success();
}

LogicalResult StoreTileOp::verify() {
  auto destination = cast<RankedTensorType>(getDestination().getType());
  TileType tile = getTile().getType();
  if (destination.getRank() != int64_t(tile.getRank()) + 2)
    return malformed(diag::error(*this, Id::WrongRank)
                     << "a tile of rank " << tile.getRank()
                     << " goes into a tensor of rank " << tile.getRank() + 2
                     << ", not " << destination);
  if (tile.getRank() == 2 && tile.getColumns() != destination.getDimSize(3))
    return malformed(diag::error(*this, Id::TileMismatch)
                     << tile << " does not fit rows of " << destination);
  return success();
}

//===----------------------------------------------------------------------===//
// attn.key_blocks
//===----------------------------------------------------------------------===//

ParseResult KeyBlocksOp::parse(OpAsmParser &parser, OperationState &result) {
  SmallVector<OpAsmParser::Argument> arguments(1);
  SmallVector<OpAsmParser::UnresolvedOperand> inits;
  SmallVector<Type> types;
  Type index = parser.getBuilder().getI32Type();
  if (parser.parseLParen() || parser.parseArgument(arguments.front()) ||
      parser.parseRParen() || parser.parseKeyword("iter"))
    return failure();
  arguments.front().type = index;
  if (parser.parseCommaSeparatedList(OpAsmParser::Delimiter::Paren, [&] {
        return failure(parser.parseArgument(arguments.emplace_back()) ||
                       parser.parseEqual() ||
                       parser.parseOperand(inits.emplace_back()));
      }))
    return failure();
  SMLoc loc = parser.getCurrentLocation();
  if (parser.parseColonTypeList(types))
    return failure();
  if (types.size() != inits.size())
    return parser.emitError(loc)
           << inits.size() << " tiles carried but " << types.size() << " types";
  for (auto [argument, type] : llvm::zip(llvm::drop_begin(arguments), types))
    argument.type = type;
  if (parser.resolveOperands(inits, types, loc, result.operands) ||
      parser.parseRegion(*result.addRegion(), arguments))
    return failure();
  result.addTypes(types);
  Region *classify = result.addRegion();
  Region *bounds = result.addRegion();
  if (succeeded(parser.parseOptionalKeyword("classify")) &&
      parseLambda(parser, *classify, Lambda::Classify))
    return failure();
  if (succeeded(parser.parseOptionalKeyword("bounds")) &&
      parseLambda(parser, *bounds, Lambda::Bounds))
    return failure();
  return parser.parseOptionalAttrDictWithKeyword(result.attributes);
}

void KeyBlocksOp::print(OpAsmPrinter &printer) {
  Block &body = getBody().front();
  printer << " (";
  printer.printRegionArgument(body.getArgument(0), {}, /*omitType=*/true);
  printer << ") iter(";
  llvm::interleaveComma(llvm::zip(body.getArguments().drop_front(), getInits()),
                        printer, [&](auto pair) {
                          printer.printRegionArgument(std::get<0>(pair), {},
                                                      /*omitType=*/true);
                          printer << " = " << std::get<1>(pair);
                        });
  printer << ") : " << getInits().getTypes() << ' ';
  printer.printRegion(getBody(), /*printEntryBlockArgs=*/false);
  if (!getClassify().empty()) {
    printer << " classify ";
    printLambda(printer, getClassify());
  }
  if (!getBounds().empty()) {
    printer << " bounds ";
    printLambda(printer, getBounds());
  }
  printer.printOptionalAttrDictWithKeyword((*this)->getAttrs());
}

void KeyBlocksOp::getAsmBlockArgumentNames(Region &region,
                                           OpAsmSetValueNameFn setName) {
  static constexpr StringLiteral body[] = {"j0", "m", "l", "acc"};
  // Bounds takes the first two of what classify takes.
  ArrayRef<StringLiteral> names =
      &region == &getBody() ? ArrayRef(body) : getLambdaNames(Lambda::Classify);
  for (auto [argument, name] : llvm::zip(region.getArguments(), names))
    setName(argument, name);
}

LogicalResult KeyBlocksOp::verify() {
  if (!llvm::equal(getInits().getTypes(), getResultTypes()))
    return malformed(diag::error(*this, Id::TileMismatch)
                     << "the tiles carried and the results differ in type");
  return success();
}

LogicalResult KeyBlocksOp::verifyRegions() {
  if (failed(verifyLambda(*this, getClassify(), Lambda::Classify,
                          "a classify region")) ||
      failed(
          verifyLambda(*this, getBounds(), Lambda::Bounds, "a bounds region")))
    return failure();
  Block &body = getBody().front();
  auto yield = dyn_cast<YieldOp>(body.back());
  if (body.getNumArguments() != getInits().size() + 1 ||
      !body.getArgument(0).getType().isInteger(32))
    return malformed(
        diag::error(*this, Id::BadKernel)
        << "the body takes the first key of the block (i32) and the tiles "
           "carried");
  if (!yield || !llvm::equal(yield.getOperandTypes(), getResultTypes()))
    return malformed(diag::error(*this, Id::TileMismatch)
                     << "the body must yield the tiles that it carries");
  return success();
}

//===----------------------------------------------------------------------===//
// Element-wise operations, products, statistics
//===----------------------------------------------------------------------===//

LogicalResult MapOp::verifyRegions() {
  return verifyLambda(*this, getBody(), Lambda::Map, "a map region");
}
void MapOp::getAsmBlockArgumentNames(Region &region,
                                     OpAsmSetValueNameFn setName) {
  for (auto [argument, name] :
       llvm::zip(region.getArguments(), getLambdaNames(Lambda::Map)))
    setName(argument, name);
}

LogicalResult MaskOp::verifyRegions() {
  return verifyLambda(*this, getBody(), Lambda::TileMask, "a mask region");
}
void MaskOp::getAsmBlockArgumentNames(Region &region,
                                      OpAsmSetValueNameFn setName) {
  for (auto [argument, name] :
       llvm::zip(region.getArguments(), getLambdaNames(Lambda::TileMask)))
    setName(argument, name);
}

LogicalResult DotOp::verify() {
  TileType lhs = getLhs().getType(), rhs = getRhs().getType();
  if (lhs.getRank() != 2 || rhs.getRank() != 2 ||
      lhs.getColumns() != rhs.getColumns() ||
      lhs.getElementType() != rhs.getElementType())
    return malformed(diag::error(*this, Id::TileMismatch)
                     << "the rows of " << lhs << " and " << rhs
                     << " have no dot product");
  return verifyTile(*this, "the result", getResult().getType(),
                    {lhs.getRows(), rhs.getRows()});
}

LogicalResult OnlineSoftmaxOp::verify() {
  TileType scores = getScores().getType();
  if (scores.getRank() != 2)
    return malformed(diag::error(*this, Id::TileMismatch)
                     << "scores have two dimensions: " << scores);
  for (TileType statistic :
       {getMax().getType(), getSum().getType(), getNewMax().getType(),
        getNewSum().getType(), getAlpha().getType()})
    if (failed(verifyTile(*this, "a statistic", statistic, {scores.getRows()})))
      return failure();
  return verifyTile(*this, "p", getP().getType(), scores.getShape());
}

LogicalResult CastOp::verify() {
  return verifyTile(*this, "the result", getResult().getType(),
                    getTile().getType().getShape());
}

LogicalResult AccumulateOp::verify() {
  TileType p = getP().getType(), v = getV().getType(), acc = getAcc().getType();
  if (p.getRank() != 2 || v.getRank() != 2 || p.getColumns() != v.getRows())
    return malformed(diag::error(*this, Id::TileMismatch)
                     << "the columns of " << p << " and the rows of " << v
                     << " differ");
  if (failed(verifyTile(*this, "the accumulator", acc,
                        {p.getRows(), v.getColumns()})) ||
      failed(verifyTile(*this, "alpha", getAlpha().getType(), {p.getRows()})))
    return failure();
  if (getResult().getType() != acc)
    return malformed(diag::error(*this, Id::TileMismatch)
                     << "the result must be like the accumulator, " << acc);
  return success();
}

LogicalResult NormalizeOp::verify() {
  TileType acc = getAcc().getType();
  for (TileType statistic :
       {getMax().getType(), getSum().getType(), getLse().getType()})
    if (failed(verifyTile(*this, "a statistic", statistic, {acc.getRows()})))
      return failure();
  if (Value max = getRowMax();
      max && failed(verifyTile(*this, "the row maximum",
                               cast<TileType>(max.getType()), {acc.getRows()})))
    return failure();
  return verifyTile(*this, "o", getO().getType(), acc.getShape());
}

LogicalResult NormalizeOp::verifyRegions() {
  return verifyLambda(*this, getSink(), Lambda::TileSink, "a sink region");
}
