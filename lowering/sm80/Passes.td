//===- Passes.td - passes of the sm_80 lowering ---------------------------===//
#ifndef QM_SM80_PASSES_TD
#define QM_SM80_PASSES_TD

include "mlir/Pass/PassBase.td"

def LowerToSm80 : Pass<"qm-lower-to-sm80", "::mlir::ModuleOp"> {
  let summary = "scheduled kernels for sm_80 and later become mma.sync code";
  let description = [{
    Every `attn.kernel` whose schedule names sm_80, sm_86 or sm_89 becomes an
    `llvm.func` with the GPU entry of the launch contract: ldmatrix, mma.sync
    and cp.async as `llvm.inline_asm` and `nvvm` operations, the rest as arith,
    math and scf. The function carries `attn.shared_bytes`.

    ```mlir
    attn.kernel @f(...) attributes {schedule = #attn.schedule<target = "sm_80", ...>} { ... }
    ```
    becomes
    ```mlir
    llvm.func @f(%slots: !llvm.ptr {llvm.byval = !llvm.array<28 x i64>, nvvm.grid_constant})
        attributes {nvvm.kernel, nvvm.reqntid = array<i32: 128, 1, 1>, attn.shared_bytes = 65536 : i64} { ... }
    ```
  }];
  let statistics = [Statistic<"numKernels", "kernels", "kernels lowered">];
}

#endif // QM_SM80_PASSES_TD
