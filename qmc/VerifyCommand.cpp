//===- VerifyCommand.cpp - qmc verify -------------------------------------===//
#include "qmc/CallData.h"
#include "qmc/CaseWriter.h"
#include "qmc/Commands.h"
#include "qmc/Console.h"
#include "qmc/ErrorMeasure.h"
#include "qmc/Machine.h"
#include "qmc/SpecFunctions.h"
#include "qmc/Table.h"

#include "lowering/reference/OperandRounding.h"

#include <cmath>
#include <cstring>

using namespace mlir;
using namespace qm;
using namespace qm::driver;
using lowering::TargetInfo;
using lowering::TargetKind;
using reference::Arithmetic;
using reference::TensorView;
using reference::WideProducts;

namespace {

std::string ratioOf(double error, double yardstick) {
  if (error == 0)
    return "0";
  return yardstick == 0 ? "-" : threeDigits(error / yardstick);
}

/// How kernels for a matrix unit multiply the spec's operands; nothing where
/// they are not f32.
std::optional<WideProducts> wideProducts(func::FuncOp spec,
                                         const Options &options) {
  auto q = cast<RankedTensorType>(spec.getArgumentTypes().front());
  if (!q.getElementType().isF32())
    return std::nullopt;
  bool tf32 = llvm::is_contained(options.overrides, "precision.operands=tf32");
  return tf32 ? WideProducts::Tf32 : WideProducts::Bf16x3;
}

class Verifier {
public:
  Verifier(Session &session, const Options &options)
      : session(session), options(options) {}
  LogicalResult run();

private:
  FailureOr<std::vector<const TargetInfo *>> chooseTargets();
  LogicalResult verifyOn(const TargetInfo &target);
  LogicalResult verifySpec(func::FuncOp spec, const TargetInfo &target,
                           MachineCode *code, Layout layout);
  void addRow(StringRef spec, StringRef what, const CallData &data,
              StringRef layout, const Errors &errors, const Errors *yardstick,
              StringRef verdict);

  Session &session;
  const Options &options;
  std::unique_ptr<Machine> machine;
  OwningOpRef<ModuleOp> module;
  SmallVector<func::FuncOp> specs;
  Table table{{"spec", "computed by", "layout", "O max abs", "O max rel",
               "O rms", "lse max abs", "row_max max abs", "O ratio",
               "lse ratio", "verdict"}};
  unsigned failures = 0;
};

void Verifier::addRow(StringRef spec, StringRef what, const CallData &data,
                      StringRef layout, const Errors &errors,
                      const Errors *yardstick, StringRef verdict) {
  auto ratio = [&](double Errors::*field) {
    return yardstick ? ratioOf(errors.*field, yardstick->*field) : "1";
  };
  table.addRow({spec.str(), what.str(), layout.str(), scientific(errors.maxAbs),
                scientific(errors.maxRel), scientific(errors.rms),
                data.lse() ? scientific(errors.lse) : "-",
                data.rowMax() ? scientific(errors.rowMax) : "-",
                ratio(&Errors::maxAbs), data.lse() ? ratio(&Errors::lse) : "-",
                verdict.str()});
}

LogicalResult Verifier::verifySpec(func::FuncOp spec, const TargetInfo &target,
                                   MachineCode *code, Layout layout) {
  FailureOr<reference::Reference> reference =
      reference::Reference::create(spec);
  if (failed(reference))
    return failure();
  FailureOr<CallData> data = session.timer.measure(
      "data", [&] { return CallData::create(spec, options, layout); });
  if (failed(data) || failed(reference->check(data->inputs())))
    return failure();

  auto evaluate = [&](ArrayRef<reference::Argument> inputs,
                      Arithmetic arithmetic) {
    return session.timer.measure("reference", [&] {
      return reference->evaluate(inputs, arithmetic, options.threads);
    });
  };
  reference::Output truth = evaluate(data->inputs(), Arithmetic::Double);
  // Cases that are written here run on a GPU.
  bool gpu = target.kind == TargetKind::Nvidia || !options.dumpCase.empty();
  std::optional<WideProducts> wide;
  if (gpu)
    wide = wideProducts(spec, options);
  std::optional<reference::RoundedArguments> rounded;
  if (wide)
    rounded.emplace(data->inputs(), *wide);
  Errors yardstick =
      measureErrors(evaluate(rounded ? rounded->get() : data->inputs(),
                             Arithmetic::InputRounded),
                    truth);
  if (!reference->returnsLse())
    yardstick.lse = 0;
  if (!reference->returnsRowMax())
    yardstick.rowMax = 0;
  Bounds bounds = makeBounds(yardstick, truth, data->o().dtype,
                             wide ? reference::operandRoundoff(*wide) : 0);
  StringRef products = !wide                         ? "f32 sums"
                       : *wide == WideProducts::Tf32 ? "tf32 products"
                                                     : "bf16x3 products";
  addRow(spec.getName(), ("unfused, " + products).str(), *data,
         getLayoutName(layout), yardstick, nullptr, "");

  if (!options.dumpCase.empty() &&
      failed(writeCase(spec, *data, truth, bounds, layout, options)))
    return failure();
  if (!code)
    return success();

  // Anything the kernel fails to write shows as a NaN.
  for (const TensorView *view : {&data->o(), data->lse(), data->rowMax()})
    if (view && view->numElements() != 0)
      std::memset(view->data, 0xFF,
                  view->numElements() * runtime::bytesPerElement(view->dtype));
  FailureOr<std::unique_ptr<BoundCall>> call =
      code->bind(spec.getName(), *data);
  if (failed(call) ||
      failed(session.timer.measure("run", [&] { return (*call)->run(); })))
    return failure();
  Errors errors =
      measureErrors(readOutput(data->o(), data->lse(), data->rowMax()), truth);
  bool pass = bounds.accepts(errors);
  failures += !pass;
  addRow(spec.getName(), target.name, *data, getLayoutName(layout), errors,
         &yardstick, pass ? "PASS" : "FAIL");
  return success();
}

LogicalResult Verifier::verifyOn(const TargetInfo &target) {
  std::unique_ptr<MachineCode> code;
  if (target.kind == TargetKind::Cpu || options.target == "gpu") {
    auto compiled = machine->compile(session, *module, target);
    if (failed(compiled))
      return failure();
    code = std::move(*compiled);
  }
  for (func::FuncOp spec : specs)
    for (Layout layout : {Layout::Bshd, Layout::Bhsd}) {
      bool wanted = options.layout.empty() ||
                    (options.layout == "bshd") == (layout == Layout::Bshd);
      if (wanted && failed(verifySpec(spec, target, code.get(), layout)))
        return failure();
    }
  return success();
}

FailureOr<std::vector<const TargetInfo *>> Verifier::chooseTargets() {
  FailureOr<std::unique_ptr<Machine>> opened = Machine::open(options);
  if (failed(opened))
    return failure();
  machine = std::move(*opened);
  // On a CPU, cases can be written for GPUs that are elsewhere.
  if (!options.dumpCase.empty() && options.target == "cpu")
    return findTargets(options, {"cpu"});
  return machine->targets();
}

LogicalResult Verifier::run() {
  FailureOr<std::vector<const TargetInfo *>> targets = chooseTargets();
  if (failed(targets))
    return failure();
  FailureOr<SpecFunctions> loaded =
      loadSpecFunctions(session, options, "verify");
  if (failed(loaded))
    return failure();
  module = std::move(loaded->module);
  specs = std::move(loaded->functions);

  if (!options.dumpCase.empty() && failed(writeCaseKernels(session, options)))
    return failure();
  for (const TargetInfo *target : *targets)
    if (failed(verifyOn(*target)))
      return failure();
  if (options.json) {
    table.printJson(llvm::outs());
  } else {
    llvm::outs() << "error against double precision, seed " << options.seed
                 << ":\n";
    table.print(llvm::outs());
  }
  if (failures == 0)
    return success();
  llvm::outs().flush();
  return reportError(diag::Id::VerifyFailed,
                     llvm::Twine(failures) +
                         " result(s) are worse than twice the yardstick",
                     "",
                     "report it with the spec and the seed; `qmc explain "
                     "QM0020` says more");
}

} // namespace

LogicalResult qm::driver::runVerify(Session &session, const Options &options) {
  return Verifier(session, options).run();
}
