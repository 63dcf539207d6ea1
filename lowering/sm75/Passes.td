//===- Passes.td - passes of the sm_75 lowering ---------------------------===//
#ifndef QM_SM75_PASSES_TD
#define QM_SM75_PASSES_TD

include "mlir/Pass/PassBase.td"

def LowerToSm75 : Pass<"qm-lower-to-sm75", "::mlir::ModuleOp"> {
  let summary = "scheduled kernels for sm_75 become mma.sync code";
  let description = [{
    Every `attn.kernel` whose schedule names sm_75 becomes an `llvm.func` with
    the GPU entry of the launch contract: ldmatrix and mma.sync m16n8k8 as
    `llvm.inline_asm`, tiles copied by way of registers, the rest as in
    `qm-lower-to-sm80`. The function carries `attn.shared_bytes`.

    ```mlir
    attn.kernel @f(...) attributes {schedule = #attn.schedule<target = "sm_75", ...>} { ... }
    ```
    becomes
    ```mlir
    llvm.func @f(%slots: !llvm.ptr {llvm.byval = !llvm.array<28 x i64>, nvvm.grid_constant})
        attributes {nvvm.kernel, nvvm.reqntid = array<i32: 256, 1, 1>, attn.shared_bytes = 65536 : i64} { ... }
    ```
  }];
  let statistics = [Statistic<"numKernels", "kernels", "kernels lowered">];
}

#endif // QM_SM75_PASSES_TD
