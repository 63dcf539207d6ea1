// What the passes qm-lower-to-* have in common.
#include "lowering/common/LowerKernels.h"
#include "lowering/common/KernelTarget.h"

#include "mlir/IR/BuiltinOps.h"

using namespace mlir;
using namespace qm;

FailureOr<unsigned>
lowering::lowerKernels(ModuleOp module,
                       function_ref<bool(const TargetInfo &)> isOurs,
                       function_ref<LogicalResult(attn::KernelOp)> emit) {
  unsigned count = 0;
  for (auto kernel :
       llvm::make_early_inc_range(module.getOps<attn::KernelOp>())) {
    const TargetInfo *target = getTarget(kernel);
    if (!target || !isOurs(*target))
      continue;
    if (failed(emit(kernel)))
      return failure();
    kernel.erase();
    ++count;
  }
  return count;
}
