//===- MlirFuzzer.cpp - text as a module of the attn dialect --------------===//
//
// Parsing and verifying any text gives a module or diagnostics. A module prints
// as text that parses again.
//
//===----------------------------------------------------------------------===//

#include "dialect/AttnOps.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/OwningOpRef.h"
#include "mlir/Parser/Parser.h"
#include "llvm/Support/raw_ostream.h"

#include <cstdlib>

using namespace mlir;

/// What a spec is written in. Diagnostics are made, and dropped.
static MLIRContext &context() {
  static MLIRContext *made = [] {
    DialectRegistry registry;
    registry.insert<arith::ArithDialect, math::MathDialect, func::FuncDialect,
                    qm::attn::AttnDialect>();
    auto *context = new MLIRContext(registry, MLIRContext::Threading::DISABLED);
    context->loadAllAvailableDialects();
    context->getDiagEngine().registerHandler([](Diagnostic &) {});
    return context;
  }();
  return *made;
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  llvm::StringRef text(reinterpret_cast<const char *>(data), size);
  ParserConfig config(&context());
  OwningOpRef<ModuleOp> module = parseSourceString<ModuleOp>(text, config);
  if (!module)
    return 0;
  std::string printed;
  llvm::raw_string_ostream(printed) << *module;
  if (!parseSourceString<ModuleOp>(printed, config))
    abort();
  return 0;
}
