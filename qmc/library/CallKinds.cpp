//===- CallKinds.cpp - kernels for some calls, beside the one for all -----===//
#include "qmc/library/CallKinds.h"
#include "qmc/Console.h"

#include "dialect/AttnOps.h"
#include "dialect/Diagnostics.h"
#include "passes/LengthVariants.h"
#include "passes/Pipelines.h"

#include "mlir/IR/Diagnostics.h"
#include "mlir/Pass/PassManager.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace qm;
using namespace qm::driver;
using lowering::TargetInfo;

namespace {

LogicalResult badVariant(StringRef value, const Twine &way) {
  return reportError(diag::Id::BadFlagValue,
                     "--variant does not take '" + value + "'", value, way);
}

/// "query<=64", "key>=4096" or "batch==1" into the manifest's [least, most].
LogicalResult parseCondition(StringRef text, llvm::json::Object &when) {
  static constexpr StringLiteral quantities[] = {"batch",  "heads", "kv_heads",
                                                 "groups", "query", "key"};
  size_t at = text.find_first_of("<>=");
  StringRef name = text.take_front(at).trim();
  StringRef relation = at == StringRef::npos ? "" : text.substr(at, 2);
  int64_t bound = 0;
  if (!llvm::is_contained(quantities, name) ||
      !llvm::is_contained({"<=", ">=", "=="}, relation) ||
      text.substr(at + 2).trim().getAsInteger(10, bound) || bound < 0)
    return badVariant(text,
                      "conditions are batch, heads, kv_heads, groups, query or "
                      "key, then <=, >= or ==, and a number: 'query<=64'");
  auto *range = when.getArray(name);
  if (!range)
    range = when.try_emplace(name, llvm::json::Array{nullptr, nullptr})
                .first->second.getAsArray();
  if (relation != "<=")
    (*range)[0] = bound;
  if (relation != ">=")
    (*range)[1] = bound;
  return success();
}

/// NAME:CONDITION[,CONDITION...][:KEY=VALUE,...].
FailureOr<CallKind> parseCallKind(StringRef text) {
  SmallVector<StringRef> parts, conditions, settings;
  text.split(parts, ':');
  CallKind kind;
  kind.name = parts.front().trim().str();
  bool isName = !kind.name.empty() && llvm::all_of(kind.name, [](char c) {
    return llvm::isAlnum(c) || c == '_';
  });
  if (parts.size() < 2 || parts.size() > 3 || !isName)
    return badVariant(text, "write NAME:CONDITIONS:SETTINGS, for example "
                            "'decode:query<=64:sm_80/schedule.tile_m=64'");
  parts[1].split(conditions, ',');
  for (StringRef condition : conditions)
    if (failed(parseCondition(condition, kind.when)))
      return failure();
  if (parts.size() == 3)
    parts[2].split(settings, ',');
  for (StringRef setting : settings)
    kind.settings.push_back(setting.trim().str());
  return kind;
}

/// Kernels of `spec` for some lengths on a target. What is wrong with the spec,
/// or with the target for it, is said when it is compiled.
std::vector<CallKind> kindsByLength(ModuleOp spec, const TargetInfo &target) {
  ScopedDiagnosticHandler silence(spec.getContext(),
                                  [](Diagnostic &) { return success(); });
  OwningOpRef<ModuleOp> copy(spec.clone());
  passes::CompileOptions compile;
  compile.target = target.name.str();
  PassManager manager(spec.getContext());
  passes::buildPipeline(manager, passes::Level::Spec, passes::Level::Scheduled,
                        compile);
  if (failed(manager.run(*copy)))
    return {};
  std::vector<CallKind> kinds;
  for (auto kernel : copy->getOps<attn::KernelOp>())
    for (const passes::LengthVariant &variant :
         passes::getLengthVariants(kernel, target)) {
      CallKind &kind = kinds.emplace_back();
      kind.name = variant.name;
      kind.when["query"] = llvm::json::Array{variant.leastQueries, nullptr};
      kind.when["key"] = llvm::json::Array{variant.leastKeys, nullptr};
      for (const std::string &setting : variant.settings)
        kind.settings.push_back((target.name + "/" + setting).str());
    }
  return kinds;
}

} // namespace

bool qm::driver::choosesSchedules(const Options &options) {
  return !options.variants.empty() || !options.schedules.empty() ||
         llvm::any_of(options.overrides, [](StringRef text) {
           return text.contains("schedule.");
         });
}

FailureOr<CallKinds> CallKinds::parse(const Options &options,
                                      ArrayRef<const TargetInfo *> targets) {
  CallKinds kinds;
  if (!choosesSchedules(options))
    llvm::copy_if(targets, std::back_inserter(kinds.chosenByLength),
                  [](const TargetInfo *target) {
                    return passes::mayHaveLengthVariants(*target);
                  });
  if (llvm::ArrayRef(options.variants).equals({"none"}))
    return kinds;
  for (StringRef text : options.variants) {
    FailureOr<CallKind> kind = parseCallKind(text);
    if (failed(kind))
      return failure();
    kinds.named.push_back(std::move(*kind));
  }
  return kinds;
}

std::vector<CallKind> CallKinds::of(ModuleOp spec) const {
  std::vector<CallKind> kinds = named;
  for (const TargetInfo *target : chosenByLength)
    llvm::append_range(kinds, kindsByLength(spec, *target));
  kinds.emplace_back();
  return kinds;
}
