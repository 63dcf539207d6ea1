//===- Passes.td - passes of the sm_90a lowering --------------------------===//
#ifndef QM_SM90_PASSES_TD
#define QM_SM90_PASSES_TD

include "mlir/Pass/PassBase.td"

def LowerToSm90 : Pass<"qm-lower-to-sm90", "::mlir::ModuleOp"> {
  let summary = "scheduled kernels for sm_90a become TMA and wgmma code";
  let description = [{
    Every `attn.kernel` whose schedule names sm_90a becomes an `llvm.func` with
    the GPU entry of the launch contract, one parameter more for each tensor
    map. One warpgroup loads tiles by tensor copies, the others compute; the
    operations of the kernel are emitted in the order of the pipeline that
    lowering/sm90/README.md draws. The function carries `attn.shared_bytes`.

    ```mlir
    attn.kernel @f(...) attributes {schedule = #attn.schedule<target = "sm_90a", consumers = 2, ...>} { ... }
    ```
    becomes
    ```mlir
    llvm.func @f(%slots: !llvm.ptr {llvm.byval = !llvm.array<28 x i64>, nvvm.grid_constant},
                 %q: !llvm.ptr {llvm.byval = !llvm.array<16 x i64>, llvm.align = 64, nvvm.grid_constant}, ...)
        attributes {nvvm.kernel, nvvm.reqntid = array<i32: 384, 1, 1>, nvvm.minctasm = 1 : i32} { ... }
    ```
  }];
  let statistics = [Statistic<"numKernels", "kernels", "kernels lowered">];
}

#endif // QM_SM90_PASSES_TD
