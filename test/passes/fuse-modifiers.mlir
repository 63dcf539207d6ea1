// RUN: qm-opt %s --qm-fuse-modifiers | FileCheck %s

// A pure scale vanishes into the exponent: 0.125 log2 e = 0.18033688.
// CHECK-LABEL: attn.kernel @scale_only
// CHECK: %[[S:.*]] = attn.dot
// CHECK-NOT: attn.map
// CHECK: attn.online_softmax %[[S]], {{.*}} exp2_scale(0.180336878)
// CHECK: attn.normalize {{.*}} exp2_scale(0.180336878)
attn.kernel @scale_only(%q: tensor<?x2x?x64xbf16>, %k: tensor<?x2x?x64xbf16>, %v: tensor<?x2x?x64xbf16>) outs(%o: tensor<?x2x?x64xbf16>)
    attributes {arg_names = ["q", "k", "v", "o"]} {
  %b, %h, %i0 = attn.tile_position
  %qt = attn.load_tile %q[%b, %h, %i0] : tensor<?x2x?x64xbf16> -> !attn.tile<?x64xbf16>
  %m0 = attn.fill 0xFF800000 : !attn.tile<?xf32>
  %l0 = attn.fill 0.0 : !attn.tile<?xf32>
  %a0 = attn.fill 0.0 : !attn.tile<?x64xf32>
  %r:3 = attn.key_blocks (%j0) iter(%m = %m0, %l = %l0, %acc = %a0) : !attn.tile<?xf32>, !attn.tile<?xf32>, !attn.tile<?x64xf32> {
    %kt = attn.load_tile %k[%b, %h, %j0] : tensor<?x2x?x64xbf16> -> !attn.tile<?x64xbf16>
    %s0 = attn.dot %qt, %kt : !attn.tile<?x64xbf16>, !attn.tile<?x64xbf16> -> !attn.tile<?x?xf32>
    %s1 = attn.map %s0 at [%i0, %j0] (%e, %i, %j) {
      %c = arith.constant 0.125 : f32
      %t = arith.mulf %e, %c : f32
      attn.yield %t : f32
    } : !attn.tile<?x?xf32>
    %m2, %l2, %p, %alpha = attn.online_softmax %s1, %m, %l : !attn.tile<?x?xf32>, !attn.tile<?xf32>, !attn.tile<?xf32>
      -> !attn.tile<?xf32>, !attn.tile<?xf32>, !attn.tile<?x?xf32>, !attn.tile<?xf32>
    %vt = attn.load_tile %v[%b, %h, %j0] : tensor<?x2x?x64xbf16> -> !attn.tile<?x64xbf16>
    %a2 = attn.accumulate %p, %vt into %acc scaled_by %alpha : !attn.tile<?x?xf32>, !attn.tile<?x64xbf16>, !attn.tile<?x64xf32>, !attn.tile<?xf32> -> !attn.tile<?x64xf32>
    attn.yield %m2, %l2, %a2 : !attn.tile<?xf32>, !attn.tile<?xf32>, !attn.tile<?x64xf32>
  }
  %on, %ln = attn.normalize %r#2 by %r#1 max %r#0 : !attn.tile<?x64xf32>, !attn.tile<?xf32>, !attn.tile<?xf32> -> !attn.tile<?x64xf32>, !attn.tile<?xf32>
  attn.store_tile %on, %o[%b, %h, %i0] : !attn.tile<?x64xf32>, tensor<?x2x?x64xbf16>
}

// Two maps become one; the factor 50 at its end moves into the exponent (50 log2 e = 72.13475), through the mask.
// CHECK-LABEL: attn.kernel @softcap
// CHECK: %[[S:.*]] = attn.dot
// CHECK: %[[X:.*]] = attn.map %[[S]]
// CHECK-NEXT: arith.constant 1.250000e-01
// CHECK-NEXT: arith.mulf
// CHECK-NEXT: arith.constant 5.000000e+01
// CHECK-NEXT: arith.divf
// CHECK-NEXT: %[[T:.*]] = math.tanh
// CHECK-NEXT: attn.yield %[[T]]
// CHECK-NOT: attn.map
// CHECK: %[[Y:.*]] = attn.mask %[[X]]
// CHECK: attn.online_softmax %[[Y]], {{.*}} exp2_scale(72.134
attn.kernel @softcap(%q: tensor<?x2x?x64xbf16>, %k: tensor<?x2x?x64xbf16>, %v: tensor<?x2x?x64xbf16>) outs(%o: tensor<?x2x?x64xbf16>)
    attributes {arg_names = ["q", "k", "v", "o"]} {
  %b, %h, %i0 = attn.tile_position
  %qt = attn.load_tile %q[%b, %h, %i0] : tensor<?x2x?x64xbf16> -> !attn.tile<?x64xbf16>
  %m0 = attn.fill 0xFF800000 : !attn.tile<?xf32>
  %l0 = attn.fill 0.0 : !attn.tile<?xf32>
  %a0 = attn.fill 0.0 : !attn.tile<?x64xf32>
  %r:3 = attn.key_blocks (%j0) iter(%m = %m0, %l = %l0, %acc = %a0) : !attn.tile<?xf32>, !attn.tile<?xf32>, !attn.tile<?x64xf32> {
    %kt = attn.load_tile %k[%b, %h, %j0] : tensor<?x2x?x64xbf16> -> !attn.tile<?x64xbf16>
    %s0 = attn.dot %qt, %kt : !attn.tile<?x64xbf16>, !attn.tile<?x64xbf16> -> !attn.tile<?x?xf32>
    %s1 = attn.map %s0 at [%i0, %j0] (%e, %i, %j) {
      %c = arith.constant 0.125 : f32
      %t = arith.mulf %e, %c : f32
      attn.yield %t : f32
    } : !attn.tile<?x?xf32>
    %s2 = attn.map %s1 at [%i0, %j0] (%e, %i, %j) {
      %c = arith.constant 50.0 : f32
      %u = arith.divf %e, %c : f32
      %t = math.tanh %u : f32
      %w = arith.mulf %c, %t : f32
      attn.yield %w : f32
    } : !attn.tile<?x?xf32>
    %y = attn.mask %s2 at [%i0, %j0] (%i, %j) {
      %c = arith.cmpi sge, %i, %j : i32
      attn.yield %c : i1
    } : !attn.tile<?x?xf32>
    %m2, %l2, %p, %alpha = attn.online_softmax %y, %m, %l : !attn.tile<?x?xf32>, !attn.tile<?xf32>, !attn.tile<?xf32>
      -> !attn.tile<?xf32>, !attn.tile<?xf32>, !attn.tile<?x?xf32>, !attn.tile<?xf32>
    %vt = attn.load_tile %v[%b, %h, %j0] : tensor<?x2x?x64xbf16> -> !attn.tile<?x64xbf16>
    %a2 = attn.accumulate %p, %vt into %acc scaled_by %alpha : !attn.tile<?x?xf32>, !attn.tile<?x64xbf16>, !attn.tile<?x64xf32>, !attn.tile<?xf32> -> !attn.tile<?x64xf32>
    attn.yield %m2, %l2, %a2 : !attn.tile<?xf32>, !attn.tile<?xf32>, !attn.tile<?x64xf32>
  }
  %on, %ln = attn.normalize %r#2 by %r#1 max %r#0 : !attn.tile<?x64xf32>, !attn.tile<?xf32>, !attn.tile<?xf32> -> !attn.tile<?x64xf32>, !attn.tile<?xf32>
  attn.store_tile %on, %o[%b, %h, %i0] : !attn.tile<?x64xf32>, tensor<?x2x?x64xbf16>
}

// A negative factor would turn the maximum into a minimum: it stays in the chain.
// CHECK-LABEL: attn.kernel @negative
// CHECK: attn.map
// CHECK: arith.mulf
// CHECK: attn.online_softmax {{.*}} exp2_scale(1.442695
attn.kernel @negative(%q: tensor<?x2x?x64xbf16>, %k: tensor<?x2x?x64xbf16>, %v: tensor<?x2x?x64xbf16>) outs(%o: tensor<?x2x?x64xbf16>)
    attributes {arg_names = ["q", "k", "v", "o"]} {
  %b, %h, %i0 = attn.tile_position
  %qt = attn.load_tile %q[%b, %h, %i0] : tensor<?x2x?x64xbf16> -> !attn.tile<?x64xbf16>
  %m0 = attn.fill 0xFF800000 : !attn.tile<?xf32>
  %l0 = attn.fill 0.0 : !attn.tile<?xf32>
  %a0 = attn.fill 0.0 : !attn.tile<?x64xf32>
  %r:3 = attn.key_blocks (%j0) iter(%m = %m0, %l = %l0, %acc = %a0) : !attn.tile<?xf32>, !attn.tile<?xf32>, !attn.tile<?x64xf32> {
    %kt = attn.load_tile %k[%b, %h, %j0] : tensor<?x2x?x64xbf16> -> !attn.tile<?x64xbf16>
    %s0 = attn.dot %qt, %kt : !attn.tile<?x64xbf16>, !attn.tile<?x64xbf16> -> !attn.tile<?x?xf32>
    %s1 = attn.map %s0 at [%i0, %j0] (%e, %i, %j) {
      %c = arith.constant -2.0 : f32
      %t = arith.mulf %e, %c : f32
      attn.yield %t : f32
    } : !attn.tile<?x?xf32>
    %m2, %l2, %p, %alpha = attn.online_softmax %s1, %m, %l : !attn.tile<?x?xf32>, !attn.tile<?xf32>, !attn.tile<?xf32>
      -> !attn.tile<?xf32>, !attn.tile<?xf32>, !attn.tile<?x?xf32>, !attn.tile<?xf32>
    %vt = attn.load_tile %v[%b, %h, %j0] : tensor<?x2x?x64xbf16> -> !attn.tile<?x64xbf16>
    %a2 = attn.accumulate %p, %vt into %acc scaled_by %alpha : !attn.tile<?x?xf32>, !attn.tile<?x64xbf16>, !attn.tile<?x64xf32>, !attn.tile<?xf32> -> !attn.tile<?x64xf32>
    attn.yield %m2, %l2, %a2 : !attn.tile<?xf32>, !attn.tile<?xf32>, !attn.tile<?x64xf32>
  }
  %on, %ln = attn.normalize %r#2 by %r#1 max %r#0 : !attn.tile<?x64xf32>, !attn.tile<?xf32>, !attn.tile<?xf32> -> !attn.tile<?x64xf32>, !attn.tile<?xf32>
  attn.store_tile %on, %o[%b, %h, %i0] : !attn.tile<?x64xf32>, tensor<?x2x?x64xbf16>
}

// The score's factor leaves a sum: a term is divided by it, in a product at the operand that all elements share.
// CHECK-LABEL: attn.kernel @alibi
// CHECK: attn.map %{{.*}} at{{.*}} (%[[E:.*]], %[[I:.*]], %[[J:.*]]) {
// CHECK: %[[SLOPE:.*]] = attn.load
// CHECK-NEXT: arith.constant 8.000000e+00
// CHECK-NEXT: %[[STEEP:.*]] = arith.mulf %[[SLOPE]]
// CHECK: %[[F:.*]] = arith.sitofp
// CHECK-NEXT: %[[T:.*]] = arith.mulf %[[STEEP]], %[[F]]
// CHECK-NEXT: %[[X:.*]] = arith.addf %[[E]], %[[T]]
// CHECK-NEXT: attn.yield %[[X]]
// CHECK: attn.online_softmax {{.*}} exp2_scale(0.180336878)
attn.kernel @alibi(%q: tensor<?x2x?x64xbf16>, %k: tensor<?x2x?x64xbf16>, %v: tensor<?x2x?x64xbf16>, %slopes: tensor<2xf32>) outs(%o: tensor<?x2x?x64xbf16>)
    attributes {arg_names = ["q", "k", "v", "slopes", "o"]} {
  %b, %h, %i0 = attn.tile_position
  %qt = attn.load_tile %q[%b, %h, %i0] : tensor<?x2x?x64xbf16> -> !attn.tile<?x64xbf16>
  %m0 = attn.fill 0xFF800000 : !attn.tile<?xf32>
  %l0 = attn.fill 0.0 : !attn.tile<?xf32>
  %a0 = attn.fill 0.0 : !attn.tile<?x64xf32>
  %r:3 = attn.key_blocks (%j0) iter(%m = %m0, %l = %l0, %acc = %a0) : !attn.tile<?xf32>, !attn.tile<?xf32>, !attn.tile<?x64xf32> {
    %kt = attn.load_tile %k[%b, %h, %j0] : tensor<?x2x?x64xbf16> -> !attn.tile<?x64xbf16>
    %s0 = attn.dot %qt, %kt : !attn.tile<?x64xbf16>, !attn.tile<?x64xbf16> -> !attn.tile<?x?xf32>
    %s1 = attn.map %s0 at [%i0, %j0] (%e, %i, %j) {
      %c = arith.constant 0.125 : f32
      %x = arith.mulf %e, %c : f32
      %s = attn.load %slopes[%h] : tensor<2xf32>
      %d = arith.subi %j, %i : i32
      %f = arith.sitofp %d : i32 to f32
      %t = arith.mulf %s, %f : f32
      %z = arith.addf %x, %t : f32
      attn.yield %z : f32
    } : !attn.tile<?x?xf32>
    %m2, %l2, %p, %alpha = attn.online_softmax %s1, %m, %l : !attn.tile<?x?xf32>, !attn.tile<?xf32>, !attn.tile<?xf32>
      -> !attn.tile<?xf32>, !attn.tile<?xf32>, !attn.tile<?x?xf32>, !attn.tile<?xf32>
    %vt = attn.load_tile %v[%b, %h, %j0] : tensor<?x2x?x64xbf16> -> !attn.tile<?x64xbf16>
    %a2 = attn.accumulate %p, %vt into %acc scaled_by %alpha : !attn.tile<?x?xf32>, !attn.tile<?x64xbf16>, !attn.tile<?x64xf32>, !attn.tile<?xf32> -> !attn.tile<?x64xf32>
    attn.yield %m2, %l2, %a2 : !attn.tile<?xf32>, !attn.tile<?xf32>, !attn.tile<?x64xf32>
  }
  %on, %ln = attn.normalize %r#2 by %r#1 max %r#0 : !attn.tile<?x64xf32>, !attn.tile<?xf32>, !attn.tile<?xf32> -> !attn.tile<?x64xf32>, !attn.tile<?xf32>
  attn.store_tile %on, %o[%b, %h, %i0] : !attn.tile<?x64xf32>, tensor<?x2x?x64xbf16>
}

// A term that differs from element to element is multiplied itself; a difference of differences too.
// CHECK-LABEL: attn.kernel @terms
// CHECK: attn.map %{{.*}} at{{.*}} (%[[E:.*]], %[[I:.*]], %[[J:.*]]) {
// CHECK: %[[F:.*]] = arith.sitofp
// CHECK-NEXT: arith.constant 2.000000e+00
// CHECK-NEXT: %[[T:.*]] = arith.mulf %[[F]]
// CHECK: %[[X:.*]] = arith.subf %[[T]], %[[E]]
// CHECK: arith.subf %{{.*}}, %[[X]]
// CHECK: attn.online_softmax {{.*}} exp2_scale(0.721347
attn.kernel @terms(%q: tensor<?x2x?x64xbf16>, %k: tensor<?x2x?x64xbf16>, %v: tensor<?x2x?x64xbf16>) outs(%o: tensor<?x2x?x64xbf16>)
    attributes {arg_names = ["q", "k", "v", "o"]} {
  %b, %h, %i0 = attn.tile_position
  %qt = attn.load_tile %q[%b, %h, %i0] : tensor<?x2x?x64xbf16> -> !attn.tile<?x64xbf16>
  %m0 = attn.fill 0xFF800000 : !attn.tile<?xf32>
  %l0 = attn.fill 0.0 : !attn.tile<?xf32>
  %a0 = attn.fill 0.0 : !attn.tile<?x64xf32>
  %r:3 = attn.key_blocks (%j0) iter(%m = %m0, %l = %l0, %acc = %a0) : !attn.tile<?xf32>, !attn.tile<?xf32>, !attn.tile<?x64xf32> {
    %kt = attn.load_tile %k[%b, %h, %j0] : tensor<?x2x?x64xbf16> -> !attn.tile<?x64xbf16>
    %s0 = attn.dot %qt, %kt : !attn.tile<?x64xbf16>, !attn.tile<?x64xbf16> -> !attn.tile<?x?xf32>
    %s1 = attn.map %s0 at [%i0, %j0] (%e, %i, %j) {
      %c = arith.constant 0.5 : f32
      %x = arith.mulf %e, %c : f32
      %f = arith.sitofp %j : i32 to f32
      %u = arith.subf %f, %x : f32
      %one = arith.constant 1.0 : f32
      %z = arith.subf %one, %u : f32
      attn.yield %z : f32
    } : !attn.tile<?x?xf32>
    %m2, %l2, %p, %alpha = attn.online_softmax %s1, %m, %l : !attn.tile<?x?xf32>, !attn.tile<?xf32>, !attn.tile<?xf32>
      -> !attn.tile<?xf32>, !attn.tile<?xf32>, !attn.tile<?x?xf32>, !attn.tile<?xf32>
    %vt = attn.load_tile %v[%b, %h, %j0] : tensor<?x2x?x64xbf16> -> !attn.tile<?x64xbf16>
    %a2 = attn.accumulate %p, %vt into %acc scaled_by %alpha : !attn.tile<?x?xf32>, !attn.tile<?x64xbf16>, !attn.tile<?x64xf32>, !attn.tile<?xf32> -> !attn.tile<?x64xf32>
    attn.yield %m2, %l2, %a2 : !attn.tile<?xf32>, !attn.tile<?xf32>, !attn.tile<?x64xf32>
  }
  %on, %ln = attn.normalize %r#2 by %r#1 max %r#0 : !attn.tile<?x64xf32>, !attn.tile<?xf32>, !attn.tile<?xf32> -> !attn.tile<?x64xf32>, !attn.tile<?xf32>
  attn.store_tile %on, %o[%b, %h, %i0] : !attn.tile<?x64xf32>, tensor<?x2x?x64xbf16>
}

// A sum that is used twice stays as it is.
// CHECK-LABEL: attn.kernel @shared
// CHECK: arith.mulf
// CHECK: arith.addf
// CHECK: attn.online_softmax {{.*}} exp2_scale(1.442695
attn.kernel @shared(%q: tensor<?x2x?x64xbf16>, %k: tensor<?x2x?x64xbf16>, %v: tensor<?x2x?x64xbf16>) outs(%o: tensor<?x2x?x64xbf16>)
    attributes {arg_names = ["q", "k", "v", "o"]} {
  %b, %h, %i0 = attn.tile_position
  %qt = attn.load_tile %q[%b, %h, %i0] : tensor<?x2x?x64xbf16> -> !attn.tile<?x64xbf16>
  %m0 = attn.fill 0xFF800000 : !attn.tile<?xf32>
  %l0 = attn.fill 0.0 : !attn.tile<?xf32>
  %a0 = attn.fill 0.0 : !attn.tile<?x64xf32>
  %r:3 = attn.key_blocks (%j0) iter(%m = %m0, %l = %l0, %acc = %a0) : !attn.tile<?xf32>, !attn.tile<?xf32>, !attn.tile<?x64xf32> {
    %kt = attn.load_tile %k[%b, %h, %j0] : tensor<?x2x?x64xbf16> -> !attn.tile<?x64xbf16>
    %s0 = attn.dot %qt, %kt : !attn.tile<?x64xbf16>, !attn.tile<?x64xbf16> -> !attn.tile<?x?xf32>
    %s1 = attn.map %s0 at [%i0, %j0] (%e, %i, %j) {
      %c = arith.constant 0.5 : f32
      %x = arith.mulf %e, %c : f32
      %f = arith.sitofp %j : i32 to f32
      %u = arith.addf %f, %x : f32
      %z = arith.mulf %u, %u : f32
      attn.yield %z : f32
    } : !attn.tile<?x?xf32>
    %m2, %l2, %p, %alpha = attn.online_softmax %s1, %m, %l : !attn.tile<?x?xf32>, !attn.tile<?xf32>, !attn.tile<?xf32>
      -> !attn.tile<?xf32>, !attn.tile<?xf32>, !attn.tile<?x?xf32>, !attn.tile<?xf32>
    %vt = attn.load_tile %v[%b, %h, %j0] : tensor<?x2x?x64xbf16> -> !attn.tile<?x64xbf16>
    %a2 = attn.accumulate %p, %vt into %acc scaled_by %alpha : !attn.tile<?x?xf32>, !attn.tile<?x64xbf16>, !attn.tile<?x64xf32>, !attn.tile<?xf32> -> !attn.tile<?x64xf32>
    attn.yield %m2, %l2, %a2 : !attn.tile<?xf32>, !attn.tile<?xf32>, !attn.tile<?x64xf32>
  }
  %on, %ln = attn.normalize %r#2 by %r#1 max %r#0 : !attn.tile<?x64xf32>, !attn.tile<?xf32>, !attn.tile<?xf32> -> !attn.tile<?x64xf32>, !attn.tile<?xf32>
  attn.store_tile %on, %o[%b, %h, %i0] : !attn.tile<?x64xf32>, tensor<?x2x?x64xbf16>
}
