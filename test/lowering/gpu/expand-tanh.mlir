// tanh where a target can branch for many elements at a time: two forms under a mark.
// RUN: qm-opt %s --qm-compile="target=sm_90a" | qm-opt --pass-pipeline='builtin.module(attn.kernel(qm-expand-gpu-math))' | FileCheck %s
// RUN: qm-opt %s --qm-compile="target=sm_80" | qm-opt --pass-pipeline='builtin.module(attn.kernel(qm-expand-gpu-math))' | FileCheck %s --check-prefix=PLAIN
// RUN: qm-opt %s --qm-compile="target=sm_90a set=precision.tanh=approx" | qm-opt --pass-pipeline='builtin.module(attn.kernel(qm-expand-gpu-math))' | FileCheck %s --check-prefix=APPROX

// The factors of argument (1 / sqrt 128 / 30) and result (30 log2 e) are part of the constants of both forms. What is yielded are
// exponents.
// CHECK-LABEL: attn.kernel @softcap
// CHECK: attn.map {{.*}} (%[[S:[a-z0-9]+]], %{{[a-z0-9]+}}, %{{[a-z0-9]+}}) {
// CHECK-DAG: %[[LIMIT:.*]] = arith.constant 108.611
// CHECK-DAG: %[[FIRST:.*]] = arith.constant 0.12751
// CHECK-DAG: %[[SCALE:.*]] = arith.constant 43.2808
// CHECK: %[[EXPONENT:.*]] = arith.mulf %[[S]],
// CHECK-NEXT: math.exp2 %[[EXPONENT]]
// CHECK: %[[QUOTIENT:.*]] = arith.divf %{{.*}} fastmath<arcp,afn>
// CHECK: %[[GENERAL:.*]] = arith.addf %[[QUOTIENT]], %[[SCALE]]
// CHECK: %[[SQUARE:.*]] = arith.mulf %[[S]], %[[S]]
// CHECK: math.fma %{{.*}}, %[[SQUARE]]
// CHECK: %[[P:.*]] = math.fma %{{.*}}, %[[SQUARE]], %[[FIRST]]
// CHECK: %[[USUAL:.*]] = arith.mulf %[[S]], %[[P]]
// CHECK: %[[SIZE:.*]] = math.absf %[[S]]
// CHECK: %[[NEAR:.*]] = arith.cmpf ole, %[[SIZE]], %[[LIMIT]]
// CHECK: %[[RESULT:.*]] = arith.select %[[NEAR]], %[[USUAL]], %[[GENERAL]] {attn.usual}
// CHECK: attn.yield %[[RESULT]]
// CHECK: attn.online_softmax {{.*}} exp2_scale(1.000000e+00) bound(43.28
// CHECK: attn.normalize {{.*}} exp2_scale(1.000000e+00)

// Elsewhere there is one form, and the exponent keeps its factor.
// PLAIN-LABEL: attn.kernel @softcap
// PLAIN-NOT: arith.select
// PLAIN: attn.online_softmax {{.*}} exp2_scale(43.28

// The machine's tanh is the general case of the same polynomial.
// APPROX-LABEL: attn.kernel @softcap
// APPROX: %[[TANH:.*]] = math.tanh %{{.*}} fastmath<afn>
// APPROX: %[[GENERAL:.*]] = arith.mulf %[[TANH]],
// APPROX: arith.select %{{.*}}, %{{.*}}, %[[GENERAL]] {attn.usual}
// APPROX: attn.online_softmax {{.*}} exp2_scale(1.000000e+00)
func.func @softcap(%q: tensor<?x4x?x128xbf16>, %k: tensor<?x4x?x128xbf16>, %v: tensor<?x4x?x128xbf16>) -> tensor<?x4x?x128xbf16> {
  %o = attn.attention q(%q) k(%k) v(%v)
    score (%s, %b, %h, %i, %j) {
      %cap = arith.constant 30.0 : f32
      %x = arith.divf %s, %cap : f32
      %t = math.tanh %x : f32
      %y = arith.mulf %t, %cap : f32
      attn.yield %y : f32
    } : tensor<?x4x?x128xbf16>, tensor<?x4x?x128xbf16>, tensor<?x4x?x128xbf16> -> tensor<?x4x?x128xbf16>
  return %o : tensor<?x4x?x128xbf16>
}

// Where lse is an output both cases are exact relative to themselves.
// CHECK-LABEL: attn.kernel @with_lse
// CHECK: %[[QUOTIENT:.*]] = arith.divf %{{.*}} fastmath<arcp>
// CHECK: %[[LARGE:.*]] = arith.addf %[[QUOTIENT]],
// CHECK: %[[SQUARE:.*]] = arith.mulf %[[S:.*]], %[[S]] : f32
// CHECK: %[[SMALL:.*]] = arith.mulf %[[S]], %{{.*}} : f32
// CHECK: %[[GENERAL:.*]] = arith.select %{{.*}}, %[[SMALL]], %[[LARGE]] : f32
// CHECK: arith.select %{{.*}}, %[[SMALL]], %[[GENERAL]] {attn.usual}
// PLAIN-LABEL: attn.kernel @with_lse
// PLAIN: arith.select %{{.*}}, %{{.*}}, %{{.*}} : f32
func.func @with_lse(%q: tensor<?x4x?x128xbf16>, %k: tensor<?x4x?x128xbf16>, %v: tensor<?x4x?x128xbf16>) -> (tensor<?x4x?x128xbf16>, tensor<?x4x?xf32>) {
  %o, %lse = attn.attention q(%q) k(%k) v(%v)
    score (%s, %b, %h, %i, %j) {
      %cap = arith.constant 30.0 : f32
      %x = arith.divf %s, %cap : f32
      %t = math.tanh %x : f32
      %y = arith.mulf %t, %cap : f32
      attn.yield %y : f32
    } : tensor<?x4x?x128xbf16>, tensor<?x4x?x128xbf16>, tensor<?x4x?x128xbf16> -> tensor<?x4x?x128xbf16>, tensor<?x4x?xf32>
  return %o, %lse : tensor<?x4x?x128xbf16>, tensor<?x4x?xf32>
}

// A tanh that other terms are added to keeps the exponent's factor.
// CHECK-LABEL: attn.kernel @with_term
// CHECK: %[[TANH:.*]] = arith.select {{.*}} {attn.usual}
// CHECK: arith.addf %[[TANH]]
// CHECK: attn.online_softmax {{.*}} exp2_scale(43.28
func.func @with_term(%q: tensor<?x4x?x128xbf16>, %k: tensor<?x4x?x128xbf16>, %v: tensor<?x4x?x128xbf16>, %slopes: tensor<4xf32> {attn.name = "slopes"}) -> tensor<?x4x?x128xbf16> {
  %o = attn.attention q(%q) k(%k) v(%v)
    score (%s, %b, %h, %i, %j) {
      %cap = arith.constant 30.0 : f32
      %x = arith.divf %s, %cap : f32
      %t = math.tanh %x : f32
      %y = arith.mulf %t, %cap : f32
      %m = attn.load %slopes[%h] : tensor<4xf32>
      %d = arith.subi %j, %i : i32
      %f = arith.sitofp %d : i32 to f32
      %p = arith.mulf %m, %f : f32
      %z = arith.addf %y, %p : f32
      attn.yield %z : f32
    } : tensor<?x4x?x128xbf16>, tensor<?x4x?x128xbf16>, tensor<?x4x?x128xbf16> -> tensor<?x4x?x128xbf16>
  return %o : tensor<?x4x?x128xbf16>
}

// A factor whose fifth power is no normal number stays where it is: the polynomial's constants are tanh's own.
// CHECK-LABEL: attn.kernel @tiny_factor
// CHECK: arith.constant 3.200000e-01
// CHECK: arith.select {{.*}} {attn.usual}
func.func @tiny_factor(%q: tensor<?x4x?x128xbf16>, %k: tensor<?x4x?x128xbf16>, %v: tensor<?x4x?x128xbf16>) -> tensor<?x4x?x128xbf16> {
  %o = attn.attention q(%q) k(%k) v(%v)
    score (%s, %b, %h, %i, %j) {
      %tiny = arith.constant 1.0e-12 : f32
      %x = arith.mulf %s, %tiny : f32
      %t = math.tanh %x : f32
      attn.yield %t : f32
    } : tensor<?x4x?x128xbf16>, tensor<?x4x?x128xbf16>, tensor<?x4x?x128xbf16> -> tensor<?x4x?x128xbf16>
  return %o : tensor<?x4x?x128xbf16>
}
