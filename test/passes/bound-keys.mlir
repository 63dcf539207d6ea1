// RUN: qm-opt %s --qm-bound-keys --canonicalize | FileCheck %s

// j <= i: the last key is the last row's own; there is no lower bound but 0.
// CHECK-LABEL: attn.kernel @causal
// CHECK: } bounds (%{{.*}}, %[[IHI:.*]]) {
// CHECK: %[[ZERO:.*]] = arith.constant 0 : i32
// CHECK: attn.yield %[[ZERO]], %[[IHI]] : i32, i32
attn.kernel @causal(%q: tensor<?x2x?x64xbf16>, %k: tensor<?x2x?x64xbf16>, %v: tensor<?x2x?x64xbf16>) outs(%o: tensor<?x2x?x64xbf16>)
    attributes {arg_names = ["q", "k", "v", "o"]} {
  %b, %h, %i0 = attn.tile_position
  %qt = attn.load_tile %q[%b, %h, %i0] : tensor<?x2x?x64xbf16> -> !attn.tile<?x64xbf16>
  %m0 = attn.fill 0xFF800000 : !attn.tile<?xf32>
  %l0 = attn.fill 0.0 : !attn.tile<?xf32>
  %a0 = attn.fill 0.0 : !attn.tile<?x64xf32>
  %r:3 = attn.key_blocks (%j0) iter(%m = %m0, %l = %l0, %acc = %a0) : !attn.tile<?xf32>, !attn.tile<?xf32>, !attn.tile<?x64xf32> {
    %kt = attn.load_tile %k[%b, %h, %j0] : tensor<?x2x?x64xbf16> -> !attn.tile<?x64xbf16>
    %s0 = attn.dot %qt, %kt : !attn.tile<?x64xbf16>, !attn.tile<?x64xbf16> -> !attn.tile<?x?xf32>
    %y = attn.mask %s0 at [%i0, %j0] (%i, %j) {
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

// i - j <= 128 and j <= i: from ilo - 128 to ihi.
// CHECK-LABEL: attn.kernel @window
// CHECK: } bounds (%[[ILO:.*]], %[[IHI:.*]]) {
// CHECK: %[[FIRST:.*]] = arith.subi %[[ILO]], %{{.*}} : i32
// CHECK: attn.yield %[[FIRST]], %[[IHI]] : i32, i32
attn.kernel @window(%q: tensor<?x2x?x64xbf16>, %k: tensor<?x2x?x64xbf16>, %v: tensor<?x2x?x64xbf16>) outs(%o: tensor<?x2x?x64xbf16>)
    attributes {arg_names = ["q", "k", "v", "o"]} {
  %b, %h, %i0 = attn.tile_position
  %qt = attn.load_tile %q[%b, %h, %i0] : tensor<?x2x?x64xbf16> -> !attn.tile<?x64xbf16>
  %m0 = attn.fill 0xFF800000 : !attn.tile<?xf32>
  %l0 = attn.fill 0.0 : !attn.tile<?xf32>
  %a0 = attn.fill 0.0 : !attn.tile<?x64xf32>
  %r:3 = attn.key_blocks (%j0) iter(%m = %m0, %l = %l0, %acc = %a0) : !attn.tile<?xf32>, !attn.tile<?xf32>, !attn.tile<?x64xf32> {
    %kt = attn.load_tile %k[%b, %h, %j0] : tensor<?x2x?x64xbf16> -> !attn.tile<?x64xbf16>
    %s0 = attn.dot %qt, %kt : !attn.tile<?x64xbf16>, !attn.tile<?x64xbf16> -> !attn.tile<?x?xf32>
    %y = attn.mask %s0 at [%i0, %j0] (%i, %j) {
      %w = arith.constant 128 : i32
      %d = arith.subi %i, %j : i32
      %a = arith.cmpi sle, %d, %w : i32
      %c = arith.cmpi sge, %i, %j : i32
      %both = arith.andi %a, %c : i1
      attn.yield %both : i1
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

// A prefix or the past: either may reach further.
// CHECK-LABEL: attn.kernel @prefix
// CHECK: } bounds (%{{.*}}, %[[IHI:.*]]) {
// CHECK: %[[LAST:.*]] = arith.maxsi %{{.*}}, %[[IHI]] : i32
// CHECK: attn.yield %{{.*}}, %[[LAST]] : i32, i32
attn.kernel @prefix(%q: tensor<?x2x?x64xbf16>, %k: tensor<?x2x?x64xbf16>, %v: tensor<?x2x?x64xbf16>, %n: i32) outs(%o: tensor<?x2x?x64xbf16>)
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
      %a = arith.cmpi slt, %j, %n : i32
      %c = arith.cmpi sge, %i, %j : i32
      %both = arith.ori %a, %c : i1
      attn.yield %both : i1
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

// Only the neighbours of a gather by key could be bounded, and there the pass gives up.
// CHECK-LABEL: attn.kernel @document
// CHECK-NOT: bounds
attn.kernel @document(%q: tensor<?x2x?x64xbf16>, %k: tensor<?x2x?x64xbf16>, %v: tensor<?x2x?x64xbf16>, %ids: tensor<?xi32>) outs(%o: tensor<?x2x?x64xbf16>)
    attributes {arg_names = ["q", "k", "v", "ids", "o"]} {
  %b, %h, %i0 = attn.tile_position
  %qt = attn.load_tile %q[%b, %h, %i0] : tensor<?x2x?x64xbf16> -> !attn.tile<?x64xbf16>
  %m0 = attn.fill 0xFF800000 : !attn.tile<?xf32>
  %l0 = attn.fill 0.0 : !attn.tile<?xf32>
  %a0 = attn.fill 0.0 : !attn.tile<?x64xf32>
  %r:3 = attn.key_blocks (%j0) iter(%m = %m0, %l = %l0, %acc = %a0) : !attn.tile<?xf32>, !attn.tile<?xf32>, !attn.tile<?x64xf32> {
    %kt = attn.load_tile %k[%b, %h, %j0] : tensor<?x2x?x64xbf16> -> !attn.tile<?x64xbf16>
    %s0 = attn.dot %qt, %kt : !attn.tile<?x64xbf16>, !attn.tile<?x64xbf16> -> !attn.tile<?x?xf32>
    %y = attn.mask %s0 at [%i0, %j0] (%i, %j) {
      %x = attn.load %ids[%i] : tensor<?xi32>
      %y = attn.load %ids[%j] : tensor<?xi32>
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

// No mask, nothing to solve.
// CHECK-LABEL: attn.kernel @none
// CHECK-NOT: bounds
attn.kernel @none(%q: tensor<?x2x?x64xbf16>, %k: tensor<?x2x?x64xbf16>, %v: tensor<?x2x?x64xbf16>) outs(%o: tensor<?x2x?x64xbf16>)
    attributes {arg_names = ["q", "k", "v", "o"]} {
  %b, %h, %i0 = attn.tile_position
  %qt = attn.load_tile %q[%b, %h, %i0] : tensor<?x2x?x64xbf16> -> !attn.tile<?x64xbf16>
  %m0 = attn.fill 0xFF800000 : !attn.tile<?xf32>
  %l0 = attn.fill 0.0 : !attn.tile<?xf32>
  %a0 = attn.fill 0.0 : !attn.tile<?x64xf32>
  %r:3 = attn.key_blocks (%j0) iter(%m = %m0, %l = %l0, %acc = %a0) : !attn.tile<?xf32>, !attn.tile<?xf32>, !attn.tile<?x64xf32> {
    %kt = attn.load_tile %k[%b, %h, %j0] : tensor<?x2x?x64xbf16> -> !attn.tile<?x64xbf16>
    %s0 = attn.dot %qt, %kt : !attn.tile<?x64xbf16>, !attn.tile<?x64xbf16> -> !attn.tile<?x?xf32>
    %m2, %l2, %p, %alpha = attn.online_softmax %s0, %m, %l : !attn.tile<?x?xf32>, !attn.tile<?xf32>, !attn.tile<?xf32>
      -> !attn.tile<?xf32>, !attn.tile<?xf32>, !attn.tile<?x?xf32>, !attn.tile<?xf32>
    %vt = attn.load_tile %v[%b, %h, %j0] : tensor<?x2x?x64xbf16> -> !attn.tile<?x64xbf16>
    %a2 = attn.accumulate %p, %vt into %acc scaled_by %alpha : !attn.tile<?x?xf32>, !attn.tile<?x64xbf16>, !attn.tile<?x64xf32>, !attn.tile<?xf32> -> !attn.tile<?x64xf32>
    attn.yield %m2, %l2, %a2 : !attn.tile<?xf32>, !attn.tile<?xf32>, !attn.tile<?x64xf32>
  }
  %on, %ln = attn.normalize %r#2 by %r#1 max %r#0 : !attn.tile<?x64xf32>, !attn.tile<?xf32>, !attn.tile<?xf32> -> !attn.tile<?x64xf32>, !attn.tile<?xf32>
  attn.store_tile %on, %o[%b, %h, %i0] : !attn.tile<?x64xf32>, tensor<?x2x?x64xbf16>
}
