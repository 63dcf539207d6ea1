//===- TargetLimit.cpp - what a target cannot have ------------------------===//
#include "qmc/library/TargetLimit.h"

#include "dialect/DiagnosticIds.h"

#include "llvm/ADT/STLExtras.h"

using namespace llvm;
using namespace mlir;
using namespace qm;
using namespace qm::driver;

/// Element types and head dims: what --dtype and --head-dim multiply.
static bool isTargetLimit(StringRef message) {
  static constexpr diag::Id limits[] = {diag::Id::HeadDimNotSupported,
                                        diag::Id::OperandTypeNotSupported,
                                        diag::Id::HopperHeadDim};
  return any_of(limits, [&](diag::Id id) {
    return message.starts_with(diag::code(id) + ": ");
  });
}

TargetLimit::TargetLimit(MLIRContext *context)
    : handler(context, [this](Diagnostic &diagnostic) {
        if (diagnostic.getSeverity() == DiagnosticSeverity::Error) {
          std::string message = diagnostic.str();
          if (!isTargetLimit(message))
            otherErrors = true;
          else if (limit.empty())
            limit = std::move(message);
        }
        return failure(); // on to the next handler, which prints
      }) {}
