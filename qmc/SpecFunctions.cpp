//===- SpecFunctions.cpp - the functions that can be evaluated ------------===//
#include "qmc/SpecFunctions.h"
#include "qmc/Console.h"
#include "qmc/SpecLoader.h"

#include "dialect/AttnOps.h"

using namespace mlir;
using namespace qm;
using namespace qm::driver;

FailureOr<SpecFunctions> qm::driver::loadSpecFunctions(Session &session,
                                                       const Options &options,
                                                       StringRef command) {
  FailureOr<OwningOpRef<ModuleOp>> module = loadSpecs(session, options);
  if (failed(module))
    return failure();
  SpecFunctions specs{std::move(*module), {}};
  for (auto function : specs.module->getOps<func::FuncOp>())
    if (!function.getOps<attn::AttentionOp>().empty())
      specs.functions.push_back(function);
  if (specs.functions.empty())
    return reportError(diag::Id::NotASpec,
                       "'" + options.input +
                           "' has nothing at the spec level, "
                           "which `qmc " +
                           command + "` needs",
                       options.input,
                       "give the .cpp or the func.func with attn.attention");
  return specs;
}
