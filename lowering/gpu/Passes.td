//===- Passes.td - passes that all NVIDIA targets share -------------------===//
#ifndef QM_GPU_PASSES_TD
#define QM_GPU_PASSES_TD

include "mlir/Pass/PassBase.td"

def ExpandGpuMath : Pass<"qm-expand-gpu-math", "::qm::attn::KernelOp"> {
  let summary = "math of element-wise regions in terms the GPU has";
  let description = [{
    exp and tanh become base-2 exponentials with a correction, division by a
    constant a multiplication, ceiling and floor division plain division, and
    the other transcendental functions polynomials. Kernels for other targets
    are left alone. Each region is expanded once, before it is emitted for every
    element. What is left has machine code; the lowerings refuse the rest.

    Before:
    ```mlir
    %t = math.exp %s : f32
    ```
    After:
    ```mlir
    %x = arith.mulf %s, %log2e : f32
    %e = math.exp2 %x : f32
    ...
    ```
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect",
                           "::mlir::math::MathDialect"];
}

#endif // QM_GPU_PASSES_TD
