//===- Machine.cpp - what runs a call: this CPU or a GPU ------------------===//
#include "qmc/Machine.h"

#include "llvm/ADT/STLExtras.h"

using namespace mlir;
using namespace qm::driver;

FailureOr<std::unique_ptr<Machine>> Machine::open(const Options &options) {
  if (options.target == "gpu")
    return makeGpuMachine(options);
  return makeCpuMachine(options);
}

FailureOr<Timing> qm::driver::measure(BoundCall &call, unsigned repeat) {
  std::vector<double> seconds;
  // The first warms caches and clocks.
  for (unsigned run = 0; run <= std::max(repeat, 1u); ++run) {
    FailureOr<double> time = call.time();
    if (failed(time))
      return failure();
    if (run > 0)
      seconds.push_back(*time);
  }
  llvm::sort(seconds);
  return Timing{seconds[seconds.size() / 2], seconds.front()};
}
