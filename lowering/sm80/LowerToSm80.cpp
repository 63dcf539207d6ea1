// qm-lower-to-sm80: scheduled kernels become functions in the NVVM dialect.
#include "lowering/common/KernelTarget.h"
#include "lowering/sm80/KernelEmitter.h"
#include "lowering/sm80/Passes.h"

namespace qm::sm80 {
#define GEN_PASS_DEF_LOWERTOSM80
#include "lowering/sm80/Passes.h.inc"
} // namespace qm::sm80

using namespace mlir;
using namespace qm;

bool sm80::isForSm80(attn::KernelOp kernel) {
  const lowering::TargetInfo *target = lowering::getTarget(kernel);
  return target && target->sm >= 80;
}

namespace {
struct LowerToSm80 : sm80::impl::LowerToSm80Base<LowerToSm80> {
  void getDependentDialects(DialectRegistry &registry) const override {
    nvvm::insertDialects(registry);
    registry.insert<arith::ArithDialect, math::MathDialect, scf::SCFDialect>();
  }

  void runOnOperation() override {
    auto kernels = llvm::to_vector(getOperation().getOps<attn::KernelOp>());
    for (attn::KernelOp kernel : kernels) {
      if (!sm80::isForSm80(kernel))
        continue;
      FailureOr<sm80::Plan> plan = sm80::Plan::get(kernel);
      if (failed(plan) ||
          failed(sm80::emitKernel(kernel, *plan, sm80::getAmpere())))
        return signalPassFailure();
      kernel.erase();
      ++numKernels;
    }
  }
};
} // namespace
