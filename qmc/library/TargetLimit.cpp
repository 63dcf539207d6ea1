//===- TargetLimit.cpp - what a target cannot have ------------------------===//
#include "qmc/library/TargetLimit.h"

#include "dialect/DiagnosticIds.h"

#include "llvm/ADT/STLExtras.h"

using namespace llvm;
using namespace mlir;
using namespace qm;
using namespace qm::driver;

/// Element types and head dims: what --dtype and --head-dim multiply.
bool TargetLimit::isLimit(StringRef message) const {
  auto is = [&](diag::Id id) {
    return message.starts_with(diag::code(id) + ": ");
  };
  return is(diag::Id::HeadDimNotSupported) || is(diag::Id::HopperHeadDim) ||
         is(diag::Id::OperandTypeNotSupported) ||
         (scheduleIsChosen && is(diag::Id::NoSchedule));
}

TargetLimit::TargetLimit(MLIRContext *context, ArrayRef<std::string> overrides)
    : scheduleIsChosen(none_of(
          overrides,
          [](StringRef setting) { return setting.starts_with("schedule."); })),
      handler(context, [this](Diagnostic &diagnostic) {
        if (diagnostic.getSeverity() == DiagnosticSeverity::Error) {
          std::string message = diagnostic.str();
          if (!isLimit(message))
            otherErrors = true;
          else if (limit.empty())
            limit = std::move(message);
        }
        return failure(); // on to the next handler, which prints
      }) {}
