//===- Passes.td - passes of the CPU lowering -----------------------------===//
#ifndef QM_CPU_PASSES_TD
#define QM_CPU_PASSES_TD

include "mlir/Pass/PassBase.td"

def LowerToCpu : Pass<"qm-lower-to-cpu", "::mlir::ModuleOp"> {
  let summary = "scheduled kernels for a CPU become functions on vectors";
  let description = [{
    Every `attn.kernel` whose schedule names a CPU becomes an `llvm.func` with
    the CPU entry of the launch contract. Its body is arith, math, vector and
    scf on one-register vectors of query rows, and LLVM memory operations.

    ```mlir
    attn.kernel @f(...) attributes {schedule = #attn.schedule<target = "x86-64-v4", ...>} { ... }
    ```
    becomes
    ```mlir
    llvm.func @f(%slots: !llvm.ptr, %tile_begin: i64, %tile_end: i64) { ... }
    ```
  }];
  let dependentDialects = [
    "::mlir::arith::ArithDialect", "::mlir::LLVM::LLVMDialect",
    "::mlir::math::MathDialect", "::mlir::scf::SCFDialect",
    "::mlir::vector::VectorDialect"];
}

def ExpandCpuMath : Pass<"qm-expand-cpu-math", "::mlir::LLVM::LLVMFuncOp"> {
  let summary = "math and narrow floats in terms the vector units have";
  let description = [{
    Transcendental functions on f32 become polynomials (a call a lane
    otherwise); conversions of bf16 become integer arithmetic (a library call
    otherwise), and so do those of f16 on a CPU without F16C; fused multiply-add
    is split on a CPU without FMA; floor and ceiling division become plain division.
  }];
  let dependentDialects = [
    "::mlir::arith::ArithDialect", "::mlir::math::MathDialect",
    "::mlir::vector::VectorDialect"];
}

#endif // QM_CPU_PASSES_TD
