//===- KernelRequest.cpp - the kernels a library is to have ---------------===//
#include "qmc/library/KernelRequest.h"
#include "qmc/Console.h"
#include "qmc/library/CallKinds.h"
#include "qmc/library/SpecForm.h"

#include "dialect/AttnOps.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Parser/Parser.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/Path.h"

using namespace mlir;
using namespace qm;
using namespace qm::driver;

namespace {

LogicalResult badFlag(StringRef flag, StringRef value, const Twine &way) {
  return reportError(diag::Id::BadFlagValue,
                     flag + " does not take '" + value + "'", value, way);
}

FailureOr<std::pair<int64_t, int64_t>> parseHeads(StringRef text) {
  auto [queryText, keyText] = text.split('x');
  std::pair<int64_t, int64_t> heads;
  if (queryText.getAsInteger(10, heads.first) ||
      (keyText.empty() ? queryText : keyText).getAsInteger(10, heads.second) ||
      heads.first < 1 || heads.second < 1 || heads.first % heads.second != 0)
    return badFlag("--heads", text,
                   "write query heads x key/value heads, 32x8; the first is a "
                   "multiple of the second");
  return heads;
}

/// Every combination of the flags, in their order.
FailureOr<std::vector<SpecForm>> parseForms(const Options &options) {
  std::vector<SpecForm> forms(1);
  auto multiply = [&](auto &values, auto set) {
    if (values.empty())
      return;
    std::vector<SpecForm> product;
    for (const SpecForm &form : forms)
      for (const auto &value : values) {
        product.push_back(form);
        set(product.back(), value);
      }
    forms = std::move(product);
  };
  std::vector<std::pair<int64_t, int64_t>> heads;
  for (StringRef text : options.heads) {
    FailureOr<std::pair<int64_t, int64_t>> parsed = parseHeads(text);
    if (failed(parsed))
      return failure();
    heads.push_back(*parsed);
  }
  for (StringRef dtype : options.dtypes)
    if (!llvm::is_contained({"bf16", "f16", "f32"}, dtype))
      return badFlag("--dtype", dtype, "choose from bf16, f16 and f32");
  multiply(options.dtypes, [](SpecForm &form, const std::string &value) {
    form.dtype = value;
  });
  multiply(options.headDims,
           [](SpecForm &form, int64_t value) { form.headDim = value; });
  multiply(heads, [](SpecForm &form, auto value) { form.heads = value; });
  return forms;
}

std::string sourceOf(func::FuncOp spec) {
  auto location = spec.getLoc()->findInstanceOf<FileLineColLoc>();
  if (!location)
    return "";
  // The file's name alone: where it lies is the builder's business.
  return (llvm::sys::path::filename(location.getFilename()) + ":" +
          Twine(location.getLine()))
      .str();
}

std::string print(ModuleOp module, bool withLocations) {
  std::string text;
  llvm::raw_string_ostream os(text);
  module.print(os, OpPrintingFlags().enableDebugInfo(withLocations));
  return text;
}

class Requests {
public:
  Requests(Session &session, const Options &options, CallKinds kinds)
      : session(session), options(options), kinds(std::move(kinds)) {}

  LogicalResult add(const SpecText &spec, const SpecForm &form) {
    OwningOpRef<ModuleOp> module = parseSourceString<ModuleOp>(
        spec.text, ParserConfig(&session.context), spec.name);
    if (!module)
      return failure();
    auto function = *(*module).getOps<func::FuncOp>().begin();
    if (failed(applyForm(function, form)))
      return failure();
    auto attention = *function.getOps<attn::AttentionOp>().begin();
    auto q = cast<RankedTensorType>(attention.getQ().getType());
    std::string dtype;
    llvm::raw_string_ostream(dtype) << q.getElementType();
    std::string name =
        (spec.name + "_" + dtype + "_d" + Twine(q.getShape().back())).str();
    if (form.heads)
      name +=
          ("_h" + Twine(form.heads->first) + "x" + Twine(form.heads->second))
              .str();
    function.setSymName("kernel");
    std::string identity = print(*module, /*withLocations=*/false);
    for (const CallKind &kind : kinds.of(*module)) {
      KernelRequest &request = requests.emplace_back();
      request.operatorName = spec.name;
      request.name = kind.name.empty() ? name : name + "_" + kind.name;
      request.identity = identity;
      request.source = sourceOf(function);
      request.overrides = options.overrides;
      request.settings = kind.settings;
      request.when = kind.when;
      function.setSymName(request.name);
      request.text = print(*module, /*withLocations=*/true);
    }
    return success();
  }

  std::vector<KernelRequest> requests;

private:
  Session &session;
  const Options &options;
  CallKinds kinds;
};

} // namespace

bool KernelRequest::isFor(StringRef target) const {
  bool namesAny = false;
  for (StringRef setting : settings) {
    auto [place, rest] = setting.split('/');
    if (rest.empty() || place == target)
      return true;
    namesAny = true;
  }
  return !namesAny;
}

std::vector<std::string> KernelRequest::overridesFor(StringRef target) const {
  std::vector<std::string> found = overrides;
  for (StringRef setting : settings) {
    auto [place, rest] = setting.split('/');
    if (rest.empty())
      found.push_back(setting.str());
    else if (place == target)
      found.push_back(rest.str());
  }
  return found;
}

FailureOr<std::vector<KernelRequest>>
qm::driver::requestKernels(Session &session, const Options &options,
                           ArrayRef<const lowering::TargetInfo *> targets,
                           ArrayRef<SpecText> specs) {
  FailureOr<CallKinds> kinds = CallKinds::parse(options, targets);
  if (failed(kinds))
    return failure();
  FailureOr<std::vector<SpecForm>> forms = parseForms(options);
  if (failed(forms))
    return failure();
  Requests requests(session, options, std::move(*kinds));
  bool failedAny = false;
  for (const SpecText &spec : specs)
    for (const SpecForm &form : *forms)
      failedAny |= failed(requests.add(spec, form));
  if (failedAny)
    return failure();
  llvm::StringSet<> names;
  for (const KernelRequest &request : requests.requests)
    if (!names.insert(request.name).second)
      return reportError(diag::Id::BadFlagValue,
                         "two kernels would be called '" + request.name + "'",
                         "",
                         "say each type, head dim, head count and variant "
                         "once");
  return std::move(requests.requests);
}
