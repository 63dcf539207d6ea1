// From a spec to nothing but the LLVM dialect, for every CPU level and operand type.
// RUN: qm-opt %s --qm-compile="target=x86-64-v4" --qm-cpu-pipeline | FileCheck %s --check-prefixes=CHECK,V4
// RUN: qm-opt %s --qm-compile="target=x86-64-v3" --qm-cpu-pipeline | FileCheck %s --check-prefixes=CHECK,V3
// RUN: qm-opt %s --qm-compile="target=generic-cpu" --qm-cpu-pipeline | FileCheck %s --check-prefixes=CHECK,SSE

// CHECK-NOT: {{(attn|arith|math|scf|vector|cf)\.}}
// CHECK-LABEL: llvm.func @bf16
// V4-SAME: prefer_vector_width = "512", target_cpu = "x86-64-v4"
// V3-SAME: prefer_vector_width = "256", target_cpu = "x86-64-v3"
// SSE-SAME: target_cpu = "generic"
// CHECK-NOT: {{(attn|arith|math|scf|vector|cf)\.}}
// V4: llvm.intr.fma({{.*}}) : (vector<16xf32>
// V3: llvm.intr.fma({{.*}}) : (vector<8xf32>
// SSE-NOT: llvm.intr.fma
// CHECK-LABEL: llvm.func @f16
// SSE-NOT: {{llvm.fptrunc|llvm.fpext}}
// CHECK-NOT: {{(attn|arith|math|scf|vector|cf)\.}}
func.func @bf16(%q: tensor<?x8x?x64xbf16>, %k: tensor<?x8x?x64xbf16>, %v: tensor<?x8x?x64xbf16>) -> tensor<?x8x?x64xbf16> {
  %o = attn.attention q(%q) k(%k) v(%v)
    score (%s, %b, %h, %i, %j) {
      %t = math.tanh %s : f32
      attn.yield %t : f32
    } mask (%b, %h, %i, %j) {
      %n = arith.constant 128 : i32
      %x = arith.floordivsi %i, %n : i32
      %y = arith.floordivsi %j, %n : i32
      %c = arith.cmpi eq, %x, %y : i32
      attn.yield %c : i1
    } : tensor<?x8x?x64xbf16>, tensor<?x8x?x64xbf16>, tensor<?x8x?x64xbf16> -> tensor<?x8x?x64xbf16>
  return %o : tensor<?x8x?x64xbf16>
}
func.func @f16(%q: tensor<?x8x?x64xf16>, %k: tensor<?x8x?x64xf16>, %v: tensor<?x8x?x64xf16>) -> tensor<?x8x?x64xf16> {
  %o = attn.attention q(%q) k(%k) v(%v) : tensor<?x8x?x64xf16>, tensor<?x8x?x64xf16>, tensor<?x8x?x64xf16> -> tensor<?x8x?x64xf16>
  return %o : tensor<?x8x?x64xf16>
}
