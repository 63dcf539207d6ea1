// Bounds by search in a sorted buffer: a warp looks at 32 elements a step, and the number of those that come first says where the
// answer is. Two searches, of the first key and of the last, before the work list. At the end a sink, and the row maximum.
// RUN: qm-opt %s --qm-compile="target=sm_80" --qm-lower-to-sm80 | FileCheck %s

// CHECK-LABEL: llvm.func @documents
// CHECK: scf.while
// CHECK: } do {
// CHECK:   %[[FIRST:.*]] = arith.cmpi slt, %{{.*}}, %{{.*}} : i32
// CHECK:   %[[LANES:.*]] = nvvm.vote.sync ballot %{{.*}}, %[[FIRST]]
// CHECK:   math.ctpop %[[LANES]] : i32
// CHECK: arith.constant 1073741824 : i32
// CHECK: scf.while
// CHECK:   %[[NOT:.*]] = arith.cmpi sle, %{{.*}}, %{{.*}} : i32
// CHECK:   nvvm.vote.sync ballot %{{.*}}, %[[NOT]]
// CHECK: scf.while
// CHECK-COUNT-2: nvvm.vote.sync ballot
// The row maximum, -ln 2 times the negative reference; then the sink in log2 units, joined to each row's sum.
// CHECK: arith.constant -0.693147182 : f32
// CHECK: %[[LOG2E:.*]] = arith.constant 1.44269502 : f32
// CHECK: arith.mulf %{{.*}}, %[[LOG2E]] : f32
func.func @documents(%q: tensor<?x2x?x64xbf16>, %k: tensor<?x2x?x64xbf16>, %v: tensor<?x2x?x64xbf16>, %ids: tensor<?x?xi32>, %sinks: tensor<2xf32>) -> (tensor<?x2x?x64xbf16>, tensor<?x2x?xf32>) {
  %o, %max = attn.attention q(%q) k(%k) v(%v) row_max
    mask (%b, %h, %i, %j) {
      %x = attn.load %ids[%b, %i] sorted : tensor<?x?xi32>
      %y = attn.load %ids[%b, %j] sorted : tensor<?x?xi32>
      %c = arith.cmpi eq, %x, %y : i32
      attn.yield %c : i1
    }
    sink (%b, %h) {
      %s = attn.load %sinks[%h] : tensor<2xf32>
      attn.yield %s : f32
    } : tensor<?x2x?x64xbf16>, tensor<?x2x?x64xbf16>, tensor<?x2x?x64xbf16> -> tensor<?x2x?x64xbf16>, tensor<?x2x?xf32>
  return %o, %max : tensor<?x2x?x64xbf16>, tensor<?x2x?xf32>
}
