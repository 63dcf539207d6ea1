// qm-lower-to-sm75: scheduled kernels become functions in the NVVM dialect.
#include "lowering/common/LowerKernels.h"
#include "lowering/sm75/Passes.h"
#include "lowering/sm75/Plan.h"
#include "lowering/sm75/Turing.h"
#include "lowering/sm80/KernelEmitter.h"

#include "mlir/Dialect/Math/IR/Math.h"

namespace qm::sm75 {
#define GEN_PASS_DEF_LOWERTOSM75
#include "lowering/sm75/Passes.h.inc"
} // namespace qm::sm75

using namespace mlir;
using namespace qm;

static bool isOurs(const lowering::TargetInfo &target) {
  return target.sm == 75;
}

static LogicalResult emit(attn::KernelOp kernel) {
  FailureOr<sm80::Plan> plan = sm75::getPlan(kernel);
  if (failed(plan))
    return failure();
  return sm80::emitKernel(kernel, *plan, sm75::getTuring());
}

namespace {
struct LowerToSm75 : sm75::impl::LowerToSm75Base<LowerToSm75> {
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
