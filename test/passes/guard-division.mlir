// RUN: qm-opt %s --qm-guard-division | FileCheck %s

// A divisor that is not known runs as 1 where it is 0 or -1, and the result is chosen.
// CHECK-LABEL: attn.kernel @unknown
// CHECK: attn.mask
// CHECK-DAG: %[[ZERO:.*]] = arith.cmpi eq, %n, %{{.*}} : i32
// CHECK-DAG: %[[MINUS:.*]] = arith.cmpi eq, %n, %{{.*}} : i32
// CHECK: %[[SPECIAL:.*]] = arith.ori
// CHECK: %[[SAFE:.*]] = arith.select %[[SPECIAL]], %{{.*}}, %n : i32
// CHECK: %[[Q:.*]] = arith.floordivsi %{{.*}}, %[[SAFE]] : i32
// CHECK: %[[NEGATED:.*]] = arith.subi
// CHECK: %[[CHOSEN:.*]] = arith.select %{{.*}}, %[[NEGATED]], %[[Q]] : i32
// CHECK: %[[GUARDED:.*]] = arith.select %{{.*}}, %{{.*}}, %[[CHOSEN]] : i32
// CHECK: arith.cmpi eq, %[[GUARDED]], %j : i32
attn.kernel @unknown(%q: tensor<?x2x?x64xbf16>, %k: tensor<?x2x?x64xbf16>, %v: tensor<?x2x?x64xbf16>, %n: i32) outs(%o: tensor<?x2x?x64xbf16>)
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
      %d = arith.floordivsi %i, %n : i32
      %c = arith.cmpi eq, %d, %j : i32
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

// Unsigned remainder: only 0 is special.
// CHECK-LABEL: attn.kernel @unsigned
// CHECK: %[[Z:.*]] = arith.cmpi eq, %n
// CHECK-NOT: arith.ori
// CHECK: %[[S:.*]] = arith.select %[[Z]], %{{.*}}, %n
// CHECK: %[[R:.*]] = arith.remui %{{.*}}, %[[S]]
// CHECK: arith.select %[[Z]], %{{.*}}, %[[R]]
attn.kernel @unsigned(%q: tensor<?x2x?x64xbf16>, %k: tensor<?x2x?x64xbf16>, %v: tensor<?x2x?x64xbf16>, %n: i32) outs(%o: tensor<?x2x?x64xbf16>)
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
      %d = arith.remui %i, %n : i32
      %c = arith.cmpi eq, %d, %j : i32
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

// A constant divisor other than 0 and -1 is safe as it is.
// CHECK-LABEL: attn.kernel @constant
// CHECK-NOT: arith.select
attn.kernel @constant(%q: tensor<?x2x?x64xbf16>, %k: tensor<?x2x?x64xbf16>, %v: tensor<?x2x?x64xbf16>) outs(%o: tensor<?x2x?x64xbf16>)
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
      %n = arith.constant 16 : i32
      %d = arith.divsi %i, %n : i32
      %c = arith.cmpi eq, %d, %j : i32
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
