// Bounds by search in a sorted buffer, by halving; a sink and the row maximum at the end of a tile.
// RUN: qm-opt %s --qm-compile="target=x86-64-v3" --qm-lower-to-cpu --canonicalize --cse | FileCheck %s

// CHECK-LABEL: llvm.func @documents
// CHECK: %[[AT:.*]]:2 = scf.while (%[[LOW:.*]] = %{{.*}}, %[[HIGH:.*]] = %{{.*}}) : (i64, i64) -> (i64, i64) {
// CHECK:   %[[SUM:.*]] = arith.addi %{{.*}}, %{{.*}} : i64
// CHECK:   arith.shrui %[[SUM]], %{{.*}} : i64
// CHECK:   arith.cmpi slt, %{{.*}}, %{{.*}} : i32
// CHECK: %[[NONE:.*]] = arith.cmpi sge, %[[AT]]#0, %{{.*}} : i64
// CHECK: arith.select %[[NONE]], %{{.*}}, %[[AT]]#0 : i64
// CHECK: scf.while
// CHECK:   arith.cmpi sle, %{{.*}}, %{{.*}} : i32
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
