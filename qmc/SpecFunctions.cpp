//===- SpecFunctions.cpp - the functions that can be evaluated ------------===//
#include "qmc/SpecFunctions.h"
#include "qmc/Console.h"

#include "dialect/AttnOps.h"

using namespace mlir;
using namespace qm;
using namespace qm::driver;

FailureOr<SmallVector<func::FuncOp>>
qm::driver::getSpecFunctions(ModuleOp module, const Options &options,
                             StringRef command) {
  SmallVector<func::FuncOp> specs;
  for (auto function : module.getOps<func::FuncOp>())
    if (!function.getOps<attn::AttentionOp>().empty())
      specs.push_back(function);
  if (specs.empty())
    return reportError(diag::Id::NotASpec,
                       "'" + options.input +
                           "' has nothing at the spec level, "
                           "which `qmc " +
                           command + "` needs",
                       options.input,
                       "give the .cpp or the func.func with attn.attention");
  return specs;
}
