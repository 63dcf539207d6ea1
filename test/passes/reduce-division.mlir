// RUN: qm-opt %s --qm-reduce-division | FileCheck %s

// Quotients by a power of two are shifts, what they leave is a bit mask.
// CHECK-LABEL: attn.kernel @powers
// CHECK: attn.mask
// CHECK: %[[Q:.*]] = arith.shrsi %i, %{{.*}} : i32
// CHECK-NOT: arith.floordivsi
// CHECK-NOT: arith.muli
// CHECK: %[[R:.*]] = arith.andi %j, %c7
// CHECK: arith.cmpi eq, %[[Q]], %[[R]] : i32
attn.kernel @powers(%q: tensor<?x2x?x64xbf16>, %k: tensor<?x2x?x64xbf16>, %v: tensor<?x2x?x64xbf16>, %n: i32) outs(%o: tensor<?x2x?x64xbf16>)
    attributes {arg_names = ["q", "k", "v", "n", "o"]} {
  %b, %h, %i0 = attn.tile_position
  %qt = attn.load_tile %q[%b, %h, %i0] : tensor<?x2x?x64xbf16> -> !attn.tile<?x64xbf16>
  %m0 = attn.fill 0xFF800000 : !attn.tile<?xf32>
  %l0 = attn.fill 0.0 : !attn.tile<?xf32>
  %a0 = attn.fill 0.0 : !attn.tile<?x64xf32>
  %r:3 = attn.key_blocks (%j0) iter(%m = %m0, %l = %l0, %acc = %a0) : !attn.tile<?xf32>, !attn.tile<?xf32>, !attn.tile<?x64xf32> {
    %kt = attn.load_tile %k[%b, %h, %j0] : tensor<?x2x?x64xbf16> -> !attn.tile<?x64xbf16>
    %s0 = attn.dot %qt, %kt : !attn.tile<?x64xbf16>, !attn.tile<?x64xbf16> -> !attn.tile<?x?xf32>
    %y = attn.mask %s0 at [%i0, %j0] (%i, %j) {
      %c16 = arith.constant 16 : i32
      %c8 = arith.constant 8 : i32
      %d = arith.floordivsi %i, %c16 : i32
      %e = arith.floordivsi %j, %c8 : i32
      %f = arith.muli %e, %c8 : i32
      %g = arith.subi %j, %f : i32
      %c = arith.cmpi eq, %d, %g : i32
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

// Other divisors, run-time divisors, and a multiple that is not the divisor stay.
// CHECK-LABEL: attn.kernel @others
// CHECK: attn.mask
// CHECK: arith.floordivsi %i, %c12
// CHECK: arith.floordivsi %j, %n
// CHECK: %[[S:.*]] = arith.shrsi %j
// CHECK: %[[M:.*]] = arith.muli %[[S]]
// CHECK: arith.subi %j, %[[M]] : i32
attn.kernel @others(%q: tensor<?x2x?x64xbf16>, %k: tensor<?x2x?x64xbf16>, %v: tensor<?x2x?x64xbf16>, %n: i32) outs(%o: tensor<?x2x?x64xbf16>)
    attributes {arg_names = ["q", "k", "v", "n", "o"]} {
  %b, %h, %i0 = attn.tile_position
  %qt = attn.load_tile %q[%b, %h, %i0] : tensor<?x2x?x64xbf16> -> !attn.tile<?x64xbf16>
  %m0 = attn.fill 0xFF800000 : !attn.tile<?xf32>
  %l0 = attn.fill 0.0 : !attn.tile<?xf32>
  %a0 = attn.fill 0.0 : !attn.tile<?x64xf32>
  %r:3 = attn.key_blocks (%j0) iter(%m = %m0, %l = %l0, %acc = %a0) : !attn.tile<?xf32>, !attn.tile<?xf32>, !attn.tile<?x64xf32> {
    %kt = attn.load_tile %k[%b, %h, %j0] : tensor<?x2x?x64xbf16> -> !attn.tile<?x64xbf16>
    %s0 = attn.dot %qt, %kt : !attn.tile<?x64xbf16>, !attn.tile<?x64xbf16> -> !attn.tile<?x?xf32>
    %y = attn.mask %s0 at [%i0, %j0] (%i, %j) {
      %c12 = arith.constant 12 : i32
      %c8 = arith.constant 8 : i32
      %c4 = arith.constant 4 : i32
      %d = arith.floordivsi %i, %c12 : i32
      %e = arith.floordivsi %j, %n : i32
      %f = arith.floordivsi %j, %c8 : i32
      %g = arith.muli %f, %c4 : i32
      %x = arith.subi %j, %g : i32
      %y = arith.addi %d, %e : i32
      %c = arith.cmpi eq, %x, %y : i32
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
