//===- VerifyCommand.cpp - qmc verify -------------------------------------===//
#include "qmc/CallData.h"
#include "qmc/CaseWriter.h"
#include "qmc/Commands.h"
#include "qmc/Console.h"
#include "qmc/CpuKernel.h"
#include "qmc/ErrorMeasure.h"
#include "qmc/SpecFunctions.h"
#include "qmc/SpecLoader.h"
#include "qmc/Table.h"

#include <cmath>
#include <cstring>

using namespace mlir;
using namespace qm;
using namespace qm::driver;
using lowering::TargetInfo;
using lowering::TargetKind;
using reference::Arithmetic;
using reference::TensorView;

namespace {

std::string ratioOf(double error, double yardstick) {
  if (error == 0)
    return "0";
  return yardstick == 0 ? "-" : threeDigits(error / yardstick);
}

class Verifier {
public:
  Verifier(Session &session, const Options &options)
      : session(session), options(options), pipeline(session, options) {}
  LogicalResult run();

private:
  LogicalResult verifyOn(const TargetInfo &target);
  LogicalResult verifySpec(func::FuncOp spec, const TargetInfo &target,
                           const CpuKernels *kernels, Layout layout);
  void addRow(StringRef spec, StringRef what, const CallData &data,
              StringRef layout, const Errors &errors, const Errors *yardstick,
              StringRef verdict);

  Session &session;
  const Options &options;
  CompilePipeline pipeline;
  OwningOpRef<ModuleOp> module;
  SmallVector<func::FuncOp> specs;
  Table table{{"spec", "computed by", "layout", "O max abs", "O max rel",
               "O rms", "lse max abs", "O ratio", "lse ratio", "verdict"}};
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
                ratio(&Errors::maxAbs), data.lse() ? ratio(&Errors::lse) : "-",
                verdict.str()});
}

LogicalResult Verifier::verifySpec(func::FuncOp spec, const TargetInfo &target,
                                   const CpuKernels *kernels, Layout layout) {
  FailureOr<reference::Reference> reference =
      reference::Reference::create(spec);
  if (failed(reference))
    return failure();
  FailureOr<CallData> data = session.timer.measure(
      "data", [&] { return CallData::create(spec, options, layout); });
  if (failed(data) || failed(reference->check(data->inputs())))
    return failure();

  auto evaluate = [&](Arithmetic arithmetic) {
    return session.timer.measure("reference", [&] {
      return reference->evaluate(data->inputs(), arithmetic, options.threads);
    });
  };
  reference::Output truth = evaluate(Arithmetic::Double);
  Errors yardstick = measureErrors(evaluate(Arithmetic::InputRounded), truth);
  if (!reference->returnsLse())
    yardstick.lse = 0;
  Bounds bounds = makeBounds(yardstick, truth, data->o().dtype);
  addRow(spec.getName(), "unfused, f32 sums", *data, getLayoutName(layout),
         yardstick, nullptr, "");

  if (!options.dumpCase.empty() &&
      failed(writeCase(spec, *data, truth, bounds, layout, options)))
    return failure();
  if (!kernels)
    return success();

  // Anything the kernel fails to write shows as a NaN.
  for (const TensorView *view : {&data->o(), data->lse()})
    if (view)
      std::memset(view->data, 0xFF,
                  view->numElements() * runtime::bytesPerElement(view->dtype));
  session.timer.measure("run", [&] {
    kernels->run(spec.getName(), data->inputsAndOutputs(), options.threads);
  });
  Errors errors = measureErrors(readOutput(data->o(), data->lse()), truth);
  bool pass = bounds.accepts(errors);
  failures += !pass;
  addRow(spec.getName(), target.name, *data, getLayoutName(layout), errors,
         &yardstick, pass ? "PASS" : "FAIL");
  return success();
}

LogicalResult Verifier::verifyOn(const TargetInfo &target) {
  std::optional<CpuKernels> kernels;
  if (target.kind == TargetKind::Cpu) {
    FailureOr<CpuKernels> compiled =
        CpuKernels::compile(pipeline, session, *module, target);
    if (failed(compiled))
      return failure();
    kernels = std::move(*compiled);
  }
  for (func::FuncOp spec : specs)
    for (Layout layout : {Layout::Bshd, Layout::Bhsd}) {
      bool wanted = options.layout.empty() ||
                    (options.layout == "bshd") == (layout == Layout::Bshd);
      if (wanted && failed(verifySpec(spec, target,
                                      kernels ? &*kernels : nullptr, layout)))
        return failure();
    }
  return success();
}

LogicalResult Verifier::run() {
  FailureOr<std::vector<const TargetInfo *>> targets =
      findTargets(options, {"cpu"});
  if (failed(targets))
    return failure();
  for (const TargetInfo *target : *targets)
    if (target->kind != TargetKind::Cpu && options.dumpCase.empty())
      return reportError(diag::Id::TargetCannotRun,
                         target->name + " cannot run on this CPU", target->name,
                         "add --dump-case DIR and run the case where the GPU "
                         "is, or use --arch=cpu");
  FailureOr<OwningOpRef<ModuleOp>> loaded = loadSpecs(session, options);
  if (failed(loaded))
    return failure();
  module = std::move(*loaded);
  FailureOr<SmallVector<func::FuncOp>> functions =
      getSpecFunctions(*module, options, "verify");
  if (failed(functions))
    return failure();
  specs = std::move(*functions);

  if (!options.dumpCase.empty() && failed(writeCaseKernels(session, options)))
    return failure();
  for (const TargetInfo *target : *targets)
    if (failed(verifyOn(*target)))
      return failure();
  llvm::outs() << "error against double precision, seed " << options.seed
               << ":\n";
  table.print(llvm::outs());
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
