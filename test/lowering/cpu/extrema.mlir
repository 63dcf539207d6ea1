// The extrema of a range of a buffer that is in no order: a loop over its elements, none where the range is too long.
// RUN: qm-opt %s --qm-compile="target=x86-64-v3" --qm-lower-to-cpu --canonicalize --cse | FileCheck %s

// CHECK-LABEL: llvm.func @classes
// CHECK: %[[READ:.*]] = arith.cmpi sle, %{{.*}}, %c1024_i64 : i64
// CHECK: %[[END:.*]] = arith.select %[[READ]], %{{.*}}, %{{.*}} : i64
// CHECK: %[[FOUND:.*]]:2 = scf.for %{{.*}} to %[[END]] step %{{.*}} iter_args(%[[LEAST:.*]] = %c127_i32, %[[GREATEST:.*]] = %c-128_i32) -> (i32, i32)
// CHECK:   %[[ELEMENT:.*]] = arith.extsi %{{.*}} : i8 to i32
// CHECK:   arith.minsi %[[LEAST]], %[[ELEMENT]] : i32
// CHECK:   arith.maxsi %[[GREATEST]], %[[ELEMENT]] : i32
// CHECK: arith.select %[[READ]], %[[FOUND]]#0, %c-128_i32 : i32
// CHECK: arith.select %[[READ]], %[[FOUND]]#1, %c127_i32 : i32
func.func @classes(%q: tensor<?x2x?x64xf16>, %k: tensor<?x2x?x64xf16>, %v: tensor<?x2x?x64xf16>, %ids: tensor<?x?xi8>) -> tensor<?x2x?x64xf16> {
  %o = attn.attention q(%q) k(%k) v(%v)
    mask (%b, %h, %i, %j) {
      %x = attn.load %ids[%b, %i] : tensor<?x?xi8>
      %y = attn.load %ids[%b, %j] : tensor<?x?xi8>
      %c = arith.cmpi eq, %x, %y : i8
      attn.yield %c : i1
    } : tensor<?x2x?x64xf16>, tensor<?x2x?x64xf16>, tensor<?x2x?x64xf16> -> tensor<?x2x?x64xf16>
  return %o : tensor<?x2x?x64xf16>
}
