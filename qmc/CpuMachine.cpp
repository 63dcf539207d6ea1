//===- CpuMachine.cpp - calls on this CPU ---------------------------------===//
#include "qmc/Console.h"
#include "qmc/CpuKernel.h"
#include "qmc/Machine.h"

#include "runtime/ParallelTiles.h"

using namespace mlir;
using namespace qm;
using namespace qm::driver;
using lowering::TargetInfo;

namespace {

class CpuCall : public BoundCall {
public:
  CpuCall(const CpuKernels &kernels, StringRef name, const CallData &data,
          unsigned threads)
      : kernels(kernels), name(name), arguments(data.inputsAndOutputs()),
        threads(threads) {}

  LogicalResult run() override {
    kernels.run(name, arguments, threads);
    return success();
  }
  FailureOr<double> time() override {
    auto start = PhaseTimer::Clock::now();
    kernels.run(name, arguments, threads);
    return std::chrono::duration<double>(PhaseTimer::Clock::now() - start)
        .count();
  }

private:
  const CpuKernels &kernels;
  std::string name;
  std::vector<reference::Argument> arguments;
  unsigned threads;
};

class CpuCode : public MachineCode {
public:
  CpuCode(CpuKernels kernels, unsigned threads)
      : kernels(std::move(kernels)), threads(threads) {}
  FailureOr<std::unique_ptr<BoundCall>> bind(StringRef kernel,
                                             const CallData &data) override {
    return std::unique_ptr<BoundCall>(
        std::make_unique<CpuCall>(kernels, kernel, data, threads));
  }

private:
  CpuKernels kernels;
  unsigned threads;
};

class CpuMachine : public Machine {
public:
  explicit CpuMachine(const Options &options) : options(options) {}

  std::string name() const override { return "this CPU"; }
  std::string threads() const override {
    return std::to_string(options.threads ? options.threads
                                          : runtime::defaultThreadCount());
  }

  FailureOr<std::vector<const TargetInfo *>> targets() const override {
    auto targets = findTargets(options, {"cpu"});
    if (failed(targets))
      return failure();
    for (const TargetInfo *target : *targets)
      if (target->kind != lowering::TargetKind::Cpu)
        return reportError(
            diag::Id::TargetCannotRun, target->name + " cannot run on this CPU",
            target->name,
            "add --target=gpu where there is one, or --arch=cpu; "
            "`qmc verify --dump-case DIR` writes the call for "
            "another machine");
    return targets;
  }

  FailureOr<std::unique_ptr<MachineCode>>
  compile(Session &session, ModuleOp module,
          const TargetInfo &target) override {
    CompilePipeline pipeline(session, options);
    FailureOr<CpuKernels> kernels =
        CpuKernels::compile(pipeline, session, module, target);
    if (failed(kernels))
      return failure();
    return std::unique_ptr<MachineCode>(
        std::make_unique<CpuCode>(std::move(*kernels), options.threads));
  }

private:
  const Options &options;
};

} // namespace

std::unique_ptr<Machine> qm::driver::makeCpuMachine(const Options &options) {
  return std::make_unique<CpuMachine>(options);
}
