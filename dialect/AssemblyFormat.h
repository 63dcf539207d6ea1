// Hand-written pieces of the attn assembly: floats without a type, and regions
// written as lambdas, `mask (%b, %h, %i, %j) {`.
#pragma once

#include "mlir/IR/OpImplementation.h"

namespace qm::attn {

/// The argument types of each kind of region: index arguments are i32, scores
/// f32.
enum class Lambda {
  Score,
  Mask,
  Sink,
  Map,
  TileMask,
  TileSink,
  Classify,
  Bounds
};
llvm::SmallVector<mlir::Type> getLambdaTypes(Lambda kind,
                                             mlir::MLIRContext *context);
/// Names under which the arguments print.
llvm::ArrayRef<llvm::StringLiteral> getLambdaNames(Lambda kind);
/// What the region yields: one f32, one i1, two i1 for Classify, two i32 for
/// Bounds.
llvm::SmallVector<mlir::Type> getLambdaResults(Lambda kind,
                                               mlir::MLIRContext *context);

mlir::ParseResult parseLambda(mlir::OpAsmParser &parser, mlir::Region &region,
                              Lambda kind);
void printLambda(mlir::OpAsmPrinter &printer, mlir::Region &region);

mlir::ParseResult parsePlainFloat(mlir::OpAsmParser &parser,
                                  mlir::FloatAttr &value);
void printPlainFloat(mlir::OpAsmPrinter &printer, mlir::Operation *op,
                     mlir::FloatAttr value);

mlir::ParseResult parseModifiers(mlir::OpAsmParser &parser, mlir::Region &score,
                                 mlir::Region &mask);
void printModifiers(mlir::OpAsmPrinter &printer, mlir::Operation *op,
                    mlir::Region &score, mlir::Region &mask);

/// `sink (%b, %h) {...}` or nothing; on a tile `sink () {...}`.
mlir::OptionalParseResult parseSink(mlir::OpAsmParser &parser,
                                    mlir::Region &sink);
void printSink(mlir::OpAsmPrinter &printer, mlir::Operation *op,
               mlir::Region &sink);
mlir::OptionalParseResult parseTileSink(mlir::OpAsmParser &parser,
                                        mlir::Region &sink);
void printTileSink(mlir::OpAsmPrinter &printer, mlir::Operation *op,
                   mlir::Region &sink);

/// `packed(%cu_q, %cu_kv)`, `padded(%len_q, %len_kv)` or nothing.
mlir::OptionalParseResult parseLengths(
    mlir::OpAsmParser &parser, mlir::UnitAttr &packed,
    llvm::SmallVectorImpl<mlir::OpAsmParser::UnresolvedOperand> &lengths);
void printLengths(mlir::OpAsmPrinter &printer, mlir::Operation *op,
                  mlir::UnitAttr packed, mlir::OperandRange lengths);

mlir::ParseResult parseMapBody(mlir::OpAsmParser &parser, mlir::Region &body);
void printMapBody(mlir::OpAsmPrinter &printer, mlir::Operation *op,
                  mlir::Region &body);

mlir::ParseResult parseMaskBody(mlir::OpAsmParser &parser, mlir::Region &body);
void printMaskBody(mlir::OpAsmPrinter &printer, mlir::Operation *op,
                   mlir::Region &body);

mlir::ParseResult parseLoadTypes(mlir::OpAsmParser &parser, mlir::Type &buffer,
                                 mlir::Type &result);
void printLoadTypes(mlir::OpAsmPrinter &printer, mlir::Operation *op,
                    mlir::Type buffer, mlir::Type result);

} // namespace qm::attn
