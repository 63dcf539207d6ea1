// Hand-written pieces of the attn assembly.
#include "dialect/AssemblyFormat.h"
#include "dialect/AttnOps.h"

using namespace mlir;
using namespace qm::attn;

SmallVector<Type> qm::attn::getLambdaTypes(Lambda kind, MLIRContext *context) {
  Type index = IntegerType::get(context, 32);
  Type score = Float32Type::get(context);
  switch (kind) {
  case Lambda::Score:
    return {score, index, index, index, index};
  case Lambda::Map:
    return {score, index, index};
  case Lambda::Sink:
  case Lambda::TileMask:
  case Lambda::Bounds:
    return {index, index};
  case Lambda::TileSink:
    return {};
  case Lambda::Mask:
  case Lambda::Classify:
    return {index, index, index, index};
  }
  llvm_unreachable("covered switch");
}

ArrayRef<StringLiteral> qm::attn::getLambdaNames(Lambda kind) {
  static constexpr StringLiteral score[] = {"s", "b", "h", "i", "j"};
  static constexpr StringLiteral map[] = {"s", "i", "j"};
  static constexpr StringLiteral classify[] = {"ilo", "ihi", "jlo", "jhi"};
  switch (kind) {
  case Lambda::Score:
    return score;
  case Lambda::Mask:
    return ArrayRef(score).drop_front(1);
  case Lambda::Sink:
    return ArrayRef(score).slice(1, 2);
  case Lambda::Map:
    return map;
  case Lambda::TileMask:
    return ArrayRef(map).drop_front(1);
  case Lambda::TileSink:
    return {};
  case Lambda::Classify:
    return classify;
  case Lambda::Bounds:
    return ArrayRef(classify).take_front(2);
  }
  llvm_unreachable("covered switch");
}

SmallVector<Type> qm::attn::getLambdaResults(Lambda kind,
                                             MLIRContext *context) {
  Type predicate = IntegerType::get(context, 1);
  switch (kind) {
  case Lambda::Score:
  case Lambda::Map:
  case Lambda::Sink:
  case Lambda::TileSink:
    return {Float32Type::get(context)};
  case Lambda::Mask:
  case Lambda::TileMask:
    return {predicate};
  case Lambda::Classify:
    return {predicate, predicate};
  case Lambda::Bounds:
    return SmallVector<Type>(2, IntegerType::get(context, 32));
  }
  llvm_unreachable("covered switch");
}

ParseResult qm::attn::parseLambda(OpAsmParser &parser, Region &region,
                                  Lambda kind) {
  SmallVector<OpAsmParser::Argument> arguments;
  SMLoc loc = parser.getCurrentLocation();
  if (parser.parseArgumentList(arguments, OpAsmParser::Delimiter::Paren))
    return failure();
  SmallVector<Type> types = getLambdaTypes(kind, parser.getContext());
  if (arguments.size() != types.size())
    return parser.emitError(loc) << "this region takes " << types.size()
                                 << " arguments, not " << arguments.size();
  for (auto [argument, type] : llvm::zip_equal(arguments, types))
    argument.type = type;
  return parser.parseRegion(region, arguments);
}

void qm::attn::printLambda(OpAsmPrinter &printer, Region &region) {
  printer << '(';
  llvm::interleaveComma(region.getArguments(), printer,
                        [&](BlockArgument argument) {
                          printer.printRegionArgument(argument, {},
                                                      /*omitType=*/true);
                        });
  printer << ") ";
  printer.printRegion(region, /*printEntryBlockArgs=*/false);
}

ParseResult qm::attn::parsePlainFloat(OpAsmParser &parser, FloatAttr &value) {
  APFloat number(APFloat::IEEEsingle());
  if (parser.parseFloat(APFloat::IEEEsingle(), number))
    return failure();
  value = FloatAttr::get(parser.getBuilder().getF32Type(), number);
  return success();
}

void qm::attn::printPlainFloat(OpAsmPrinter &printer, Operation *,
                               FloatAttr value) {
  printer.printFloat(value.getValue());
}

ParseResult qm::attn::parseModifiers(OpAsmParser &parser, Region &score,
                                     Region &mask) {
  if (succeeded(parser.parseOptionalKeyword("score")) &&
      parseLambda(parser, score, Lambda::Score))
    return failure();
  if (succeeded(parser.parseOptionalKeyword("mask")) &&
      parseLambda(parser, mask, Lambda::Mask))
    return failure();
  return success();
}

/// On a line of its own; nothing if it is empty.
static void printNamedLambda(OpAsmPrinter &printer, StringRef name,
                             Region &region) {
  if (region.empty())
    return;
  printer.increaseIndent();
  printer.printNewline();
  printer << name << ' ';
  printLambda(printer, region);
  printer.decreaseIndent();
}

void qm::attn::printModifiers(OpAsmPrinter &printer, Operation *, Region &score,
                              Region &mask) {
  printNamedLambda(printer, "score", score);
  printNamedLambda(printer, "mask", mask);
}

static OptionalParseResult parseOptionalSink(OpAsmParser &parser, Region &sink,
                                             Lambda kind) {
  if (failed(parser.parseOptionalKeyword("sink")))
    return std::nullopt;
  return parseLambda(parser, sink, kind);
}
OptionalParseResult qm::attn::parseSink(OpAsmParser &parser, Region &sink) {
  return parseOptionalSink(parser, sink, Lambda::Sink);
}
void qm::attn::printSink(OpAsmPrinter &printer, Operation *, Region &sink) {
  printNamedLambda(printer, "sink", sink);
}
OptionalParseResult qm::attn::parseTileSink(OpAsmParser &parser, Region &sink) {
  return parseOptionalSink(parser, sink, Lambda::TileSink);
}
void qm::attn::printTileSink(OpAsmPrinter &printer, Operation *, Region &sink) {
  printer << "sink ";
  printLambda(printer, sink);
}

OptionalParseResult qm::attn::parseLengths(
    OpAsmParser &parser, UnitAttr &packed,
    SmallVectorImpl<OpAsmParser::UnresolvedOperand> &lengths) {
  if (succeeded(parser.parseOptionalKeyword("packed")))
    packed = parser.getBuilder().getUnitAttr();
  else if (failed(parser.parseOptionalKeyword("padded")))
    return std::nullopt;
  return parser.parseOperandList(lengths, 2, OpAsmParser::Delimiter::Paren);
}

void qm::attn::printLengths(OpAsmPrinter &printer, Operation *, UnitAttr packed,
                            OperandRange lengths) {
  printer << (packed ? "packed" : "padded") << '(' << lengths << ')';
}

ParseResult qm::attn::parseMapBody(OpAsmParser &parser, Region &body) {
  return parseLambda(parser, body, Lambda::Map);
}
void qm::attn::printMapBody(OpAsmPrinter &printer, Operation *, Region &body) {
  printLambda(printer, body);
}

ParseResult qm::attn::parseMaskBody(OpAsmParser &parser, Region &body) {
  return parseLambda(parser, body, Lambda::TileMask);
}
void qm::attn::printMaskBody(OpAsmPrinter &printer, Operation *, Region &body) {
  printLambda(printer, body);
}

ParseResult qm::attn::parseLoadTypes(OpAsmParser &parser, Type &buffer,
                                     Type &result) {
  SMLoc loc = parser.getCurrentLocation();
  if (parser.parseType(buffer))
    return failure();
  auto tensor = dyn_cast<RankedTensorType>(buffer);
  if (!tensor)
    return parser.emitError(loc, "attn.load reads a ranked tensor");
  result = tensor.getElementType();
  return success();
}
void qm::attn::printLoadTypes(OpAsmPrinter &printer, Operation *, Type buffer,
                              Type) {
  printer << buffer;
}
