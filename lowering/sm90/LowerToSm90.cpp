// qm-lower-to-sm90: scheduled kernels become functions in the NVVM dialect.
#include "lowering/common/LowerKernels.h"
#include "lowering/nvvm/NVVMEmit.h"
#include "lowering/sm90/KernelEmitter.h"
#include "lowering/sm90/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

namespace qm::sm90 {
#define GEN_PASS_DEF_LOWERTOSM90
#include "lowering/sm90/Passes.h.inc"
} // namespace qm::sm90

using namespace mlir;
using namespace qm;

static bool isOurs(const lowering::TargetInfo &target) {
  return target.kind == lowering::TargetKind::Nvidia && target.sm == 90;
}

namespace {
struct LowerToSm90 : sm90::impl::LowerToSm90Base<LowerToSm90> {
  void getDependentDialects(DialectRegistry &registry) const override {
    nvvm::insertDialects(registry);
    registry.insert<arith::ArithDialect, cf::ControlFlowDialect,
                    math::MathDialect, scf::SCFDialect>();
  }

  void runOnOperation() override {
    FailureOr<unsigned> count =
        lowering::lowerKernels(getOperation(), isOurs, sm90::emitKernel);
    if (failed(count))
      return signalPassFailure();
    numKernels += *count;
  }
};
} // namespace
