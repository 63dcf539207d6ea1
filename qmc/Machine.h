//===- Machine.h - what runs a call: this CPU or a GPU ----------*- C++ -*-===//
#pragma once

#include "qmc/CallData.h"
#include "qmc/CompilePipeline.h"

#include <memory>

namespace qm::driver {

/// One call: compiled code, and the arguments where it reads them.
class BoundCall {
public:
  virtual ~BoundCall() = default;
  /// Runs once and waits. Afterwards the outputs of the call's data hold the
  /// results.
  virtual mlir::LogicalResult run() = 0;
  /// Seconds that one more run takes on the machine itself.
  virtual mlir::FailureOr<double> time() = 0;
};

/// The kernels of a module, compiled for one target.
class MachineCode {
public:
  virtual ~MachineCode() = default;
  /// `data` must outlive the call.
  virtual mlir::FailureOr<std::unique_ptr<BoundCall>>
  bind(llvm::StringRef kernel, const CallData &data) = 0;
};

class Machine {
public:
  virtual ~Machine() = default;
  /// What --target names; an error if it is not there.
  static mlir::FailureOr<std::unique_ptr<Machine>> open(const Options &options);

  /// "NVIDIA H200", "this CPU".
  virtual std::string name() const = 0;
  /// Threads that a call uses: "8", "-" on a GPU.
  virtual std::string threads() const = 0;
  /// TFLOP/s that its matrix units reach at most, of the data sheet; 0 where
  /// that is not known.
  virtual double limitTflops() const { return 0; }
  /// The clock that it runs at now, in MHz; 0 where nothing says.
  virtual double clockMHz() const { return 0; }
  /// Those of --arch, which must be able to run here; else what suits the
  /// machine best.
  virtual mlir::FailureOr<std::vector<const lowering::TargetInfo *>>
  targets() const = 0;
  virtual mlir::FailureOr<std::unique_ptr<MachineCode>>
  compile(Session &session, mlir::ModuleOp module,
          const lowering::TargetInfo &target) = 0;
};

/// Median and best of the timed runs, in seconds.
struct Timing {
  double median, best;
};

/// One run that is not counted, then `repeat` (at least one) that are.
mlir::FailureOr<Timing> measure(BoundCall &call, unsigned repeat);

/// The latest target whose code an NVIDIA GPU of this compute capability runs,
/// or null.
const lowering::TargetInfo *findGpuTarget(int major, int minor);

std::unique_ptr<Machine> makeCpuMachine(const Options &options);
mlir::FailureOr<std::unique_ptr<Machine>>
makeGpuMachine(const Options &options);

} // namespace qm::driver
