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
#include <string>

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

// LLVM's allocators tell the sanitizer what is in use, in code that is inline
// here and compiled without it in the MLIR that we link: what one side hides
// the other does not show again.
extern "C" const char *__asan_default_options();
extern "C" const char *__asan_default_options() {
  return "allow_user_poisoning=0";
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  // With a NUL after it, as in the buffer of a file: MLIR's lexer looks there.
  std::string text(reinterpret_cast<const char *>(data), size);
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
