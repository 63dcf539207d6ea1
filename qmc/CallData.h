//===- CallData.h - the arguments of one call -------------------*- C++ -*-===//
#pragma once

#include "lowering/reference/HostTensor.h"
#include "lowering/reference/Reference.h"
#include "qmc/Options.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

#include <deque>

namespace qm::driver {

/// The memory order of q, k, v and o: [B, S, H, D] or [B, H, S, D].
enum class Layout { Bshd, Bhsd };
llvm::StringRef getLayoutName(Layout layout);

/// Inputs of a spec, from files and flags or made up, and room for its outputs.
class CallData {
public:
  /// Errors of --input, --param, --extent and of the sizes are reported.
  /// Without `values` only extents and scalars count: tensors that no file
  /// gives stay zero, save integers, which a mask may read.
  static mlir::FailureOr<CallData> create(mlir::func::FuncOp spec,
                                          const Options &options, Layout layout,
                                          bool values = true);

  /// The function's arguments, in order.
  llvm::ArrayRef<reference::Argument> inputs() const { return arguments; }
  /// Inputs, then o, then lse and row_max if there are: the launch contract's
  /// order.
  std::vector<reference::Argument> inputsAndOutputs() const;
  const reference::TensorView &o() const { return output->view(); }
  /// Null if the spec returns no lse.
  const reference::TensorView *lse() const {
    return logSums ? &logSums->view() : nullptr;
  }
  /// Null if the spec returns no row maxima.
  const reference::TensorView *rowMax() const {
    return maxima ? &maxima->view() : nullptr;
  }
  /// Names of the inputs.
  llvm::ArrayRef<std::string> names() const { return argumentNames; }

private:
  std::deque<reference::HostTensor> tensors; ///< stable addresses
  std::vector<reference::Argument> arguments;
  std::vector<std::string> argumentNames;
  std::unique_ptr<reference::HostTensor> output, logSums, maxima;
  friend class CallDataBuilder;
};

} // namespace qm::driver
