//===- MlirFuzzer.cpp - text as a module of the attn dialect --------------===//
//
// Parsing and verifying any text gives a module or diagnostics. A module prints
// as text that parses again.
//
//===----------------------------------------------------------------------===//

#include "qmc/Session.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"
#include "mlir/Parser/Parser.h"
#include "llvm/Support/raw_ostream.h"

#include <cstdlib>

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  static qm::driver::Session session(llvm::nulls());
  llvm::StringRef text(reinterpret_cast<const char *>(data), size);
  mlir::ParserConfig config(&session.context);
  mlir::OwningOpRef<mlir::ModuleOp> module =
      mlir::parseSourceString<mlir::ModuleOp>(text, config);
  if (!module)
    return 0;
  std::string printed;
  llvm::raw_string_ostream(printed) << *module;
  if (!mlir::parseSourceString<mlir::ModuleOp>(printed, config))
    abort();
  return 0;
}
