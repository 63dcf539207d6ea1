//===- CallKinds.h - kernels for some calls, beside the one for all -*- C++
//-*-===//
//
// Those that --variant names; without it those that were measured to be worth
// having (passes/LengthVariants.h).
//
//===----------------------------------------------------------------------===//
#pragma once

#include "qmc/Options.h"

#include "lowering/common/TargetInfo.h"

#include "mlir/IR/BuiltinOps.h"
#include "llvm/Support/JSON.h"

#include <string>
#include <vector>

namespace qm::driver {

struct CallKind {
  std::string name; ///< "" for every call
  llvm::json::Object when;
  std::vector<std::string> settings;
};

/// Whether schedules or kinds of call are the user's: none are added by length.
bool choosesSchedules(const Options &options);

class CallKinds {
public:
  static mlir::FailureOr<CallKinds>
  parse(const Options &options,
        llvm::ArrayRef<const lowering::TargetInfo *> targets);

  /// Those of a spec, in the order in which they are tried; the one for every
  /// call is the last.
  std::vector<CallKind> of(mlir::ModuleOp spec) const;

private:
  std::vector<CallKind> named; ///< by --variant
  /// The targets whose schedule is left to us.
  std::vector<const lowering::TargetInfo *> chosenByLength;
};

} // namespace qm::driver
