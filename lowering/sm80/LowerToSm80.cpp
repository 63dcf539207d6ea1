// qm-lower-to-sm80: scheduled kernels become functions in the NVVM dialect.
#include "lowering/common/LowerKernels.h"
#include "lowering/sm80/KernelEmitter.h"
#include "lowering/sm80/Passes.h"

namespace qm::sm80 {
#define GEN_PASS_DEF_LOWERTOSM80
#include "lowering/sm80/Passes.h.inc"
} // namespace qm::sm80

using namespace mlir;
using namespace qm;

/// sm_80, sm_86, sm_89.
static bool isOurs(const lowering::TargetInfo &target) {
  return target.sm >= 80 && target.sm < 90;
}

static LogicalResult emit(attn::KernelOp kernel) {
  FailureOr<sm80::Plan> plan = sm80::Plan::get(kernel);
  if (failed(plan))
    return failure();
  return sm80::emitKernel(kernel, *plan, sm80::getAmpere());
}

namespace {
struct LowerToSm80 : sm80::impl::LowerToSm80Base<LowerToSm80> {
  void getDependentDialects(DialectRegistry &registry) const override {
    nvvm::insertDialects(registry);
    registry.insert<arith::ArithDialect, math::MathDialect, scf::SCFDialect>();
  }

  void runOnOperation() override {
    FailureOr<unsigned> count =
        lowering::lowerKernels(getOperation(), isOurs, emit);
    if (failed(count))
      return signalPassFailure();
    numKernels += *count;
  }
};
} // namespace
