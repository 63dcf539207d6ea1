// RUN: qm-opt %s --qm-to-online | FileCheck %s

// The scale that was given stays; regions move along; normalisation becomes an operation of its own.
// CHECK-LABEL: func.func @given_scale
func.func @given_scale(%q: tensor<?x8x?x64xbf16>, %k: tensor<?x2x?x64xbf16>, %v: tensor<?x2x?x32xbf16>)
    -> (tensor<?x8x?x32xbf16>, tensor<?x8x?xf32>) {
  // CHECK: %[[R:.*]]:3 = attn.online q(%arg0) k(%arg1) v(%arg2) scale(2.500000e-01)
  // CHECK-NEXT: mask (%{{.*}}, %{{.*}}, %[[I:.*]], %[[J:.*]]) {
  // CHECK-NEXT:   arith.cmpi sge, %[[I]], %[[J]] : i32
  // CHECK: -> tensor<?x8x?x32xf32>, tensor<?x8x?xf32>, tensor<?x8x?xf32>
  // CHECK: %[[N:.*]]:2 = attn.normalize_rows %[[R]]#0 max %[[R]]#1 sum %[[R]]#2
  // CHECK-SAME: -> tensor<?x8x?x32xbf16>, tensor<?x8x?xf32>
  // CHECK: return %[[N]]#0, %[[N]]#1
  %o, %lse = attn.attention q(%q) k(%k) v(%v) scale(0.25)
    mask (%b, %h, %i, %j) {
      %c = arith.cmpi sge, %i, %j : i32
      attn.yield %c : i1
    } : tensor<?x8x?x64xbf16>, tensor<?x2x?x64xbf16>, tensor<?x2x?x32xbf16> -> tensor<?x8x?x32xbf16>, tensor<?x8x?xf32>
  return %o, %lse : tensor<?x8x?x32xbf16>, tensor<?x8x?xf32>
}

// Without a scale it is 1/sqrt(D).
// CHECK-LABEL: func.func @default_scale
func.func @default_scale(%q: tensor<?x8x?x64xf32>, %k: tensor<?x8x?x64xf32>, %v: tensor<?x8x?x64xf32>) -> tensor<?x8x?x64xf32> {
  // CHECK: attn.online {{.*}} scale(1.250000e-01)
  // CHECK: attn.normalize_rows {{.*}} -> tensor<?x8x?x64xf32>
  // CHECK-NOT: attn.attention
  %o = attn.attention q(%q) k(%k) v(%v) : tensor<?x8x?x64xf32>, tensor<?x8x?x64xf32>, tensor<?x8x?x64xf32> -> tensor<?x8x?x64xf32>
  return %o : tensor<?x8x?x64xf32>
}

// Lengths of sequences move along.
// CHECK-LABEL: func.func @packed
func.func @packed(%q: tensor<1x8x?x64xbf16>, %k: tensor<1x8x?x64xbf16>, %v: tensor<1x8x?x64xbf16>, %cu_q: tensor<?xi32>, %cu_kv: tensor<?xi32>) -> tensor<1x8x?x64xbf16> {
  // CHECK: attn.online q(%arg0) k(%arg1) v(%arg2) packed(%arg3, %arg4) scale(1.250000e-01)
  %o = attn.attention q(%q) k(%k) v(%v) packed(%cu_q, %cu_kv) : tensor<1x8x?x64xbf16>, tensor<1x8x?x64xbf16>, tensor<1x8x?x64xbf16> -> tensor<1x8x?x64xbf16>
  return %o : tensor<1x8x?x64xbf16>
}

// A sink and the row maximum belong to the normalisation.
// CHECK-LABEL: func.func @sink
func.func @sink(%q: tensor<?x8x?x64xf32>, %k: tensor<?x8x?x64xf32>, %v: tensor<?x8x?x64xf32>, %sinks: tensor<8xf32>) -> (tensor<?x8x?x64xf32>, tensor<?x8x?xf32>) {
  // CHECK: attn.online
  // CHECK-NOT: sink
  // CHECK: attn.normalize_rows %{{.*}} max %{{.*}} sum %{{.*}} row_max
  // CHECK: sink (%{{.*}}, %[[H:.*]]) {
  // CHECK-NEXT: attn.load %arg3[%[[H]]]
  %o, %m = attn.attention q(%q) k(%k) v(%v) row_max
    sink (%b, %h) {
      %s = attn.load %sinks[%h] : tensor<8xf32>
      attn.yield %s : f32
    } : tensor<?x8x?x64xf32>, tensor<?x8x?x64xf32>, tensor<?x8x?x64xf32> -> tensor<?x8x?x64xf32>, tensor<?x8x?xf32>
  return %o, %m : tensor<?x8x?x64xf32>, tensor<?x8x?xf32>
}
