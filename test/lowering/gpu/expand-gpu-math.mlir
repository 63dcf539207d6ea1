// Transcendental functions in terms the GPU has, once a region.
// RUN: qm-opt %s --pass-pipeline='builtin.module(attn.kernel(qm-expand-gpu-math))' | FileCheck %s

attn.kernel @f(%q: tensor<?x2x?x64xf16>, %k: tensor<?x1x?x64xf16>, %v: tensor<?x1x?x64xf16>, %doc: tensor<?xi32>, %width: i32)
    outs(%o: tensor<?x2x?x64xf16>)
    attributes {arg_names = ["q", "k", "v", "doc", "width", "o"],
      schedule = #attn.schedule<target = "sm_80", tile_m = 16, tile_n = 16, warps = 1, stages = 3>} {
  %b, %h, %i0 = attn.tile_position
  %group = arith.constant 2 : i32
  %hk = arith.divui %h, %group : i32
  %qt = attn.load_tile %q[%b, %h, %i0] : tensor<?x2x?x64xf16> -> !attn.tile<16x64xf16>
  %m0 = attn.fill 0xFF800000 : !attn.tile<16xf32>
  %l0 = attn.fill 0.0 : !attn.tile<16xf32>
  %a0 = attn.fill 0.0 : !attn.tile<16x64xf32>
  %r:3 = attn.key_blocks (%j0) iter(%m = %m0, %l = %l0, %acc = %a0) : !attn.tile<16xf32>, !attn.tile<16xf32>, !attn.tile<16x64xf32> {
    %kt = attn.load_tile %k[%b, %hk, %j0] : tensor<?x1x?x64xf16> -> !attn.tile<16x64xf16>
    %s = attn.dot %qt, %kt : !attn.tile<16x64xf16>, !attn.tile<16x64xf16> -> !attn.tile<16x16xf32>
    // CHECK: attn.map %{{.*}} at[%{{.*}}] (%[[E:[a-z0-9_]+]], 
    %x = attn.map %s at [%i0, %j0] (%e, %i, %j) {
      // Division by 30: a multiplication, and with the factors before and behind it one, 0.1 / 30 2 log2 e.
      // CHECK-NOT: arith.divf %[[E]]
      // CHECK: %[[FACTOR:.*]] = arith.constant 0.00961
      // CHECK: arith.mulf %[[E]], %[[FACTOR]]
      %scale = arith.constant 0.1 : f32
      %scaled = arith.mulf %e, %scale : f32
      %cap = arith.constant 30.0 : f32
      %d = arith.divf %scaled, %cap : f32
      // tanh: one exponential and one reciprocal. A term of the score needs no more: its absolute error counts.
      // CHECK-NOT: math.tanh
      // CHECK: %[[EXP:.*]] = math.exp2
      // CHECK: %[[SUM:.*]] = arith.addf %[[EXP]]
      // CHECK: %[[QUOTIENT:.*]] = arith.divf %{{.*}}, %[[SUM]] fastmath<arcp,afn>
      // CHECK: %[[TANH:.*]] = arith.addf %[[QUOTIENT]]
      // CHECK-NEXT: attn.yield %[[TANH]]
      %t = math.tanh %d : f32
      attn.yield %t : f32
    } : !attn.tile<16x16xf32>
    // CHECK: attn.map
    %z = attn.map %x at [%i0, %j0] (%e, %i, %j) {
      // Elsewhere a polynomial near 0 keeps the relative error small.
      // CHECK: math.exp2
      // CHECK: arith.divf
      // CHECK: math.fma
      // CHECK: arith.select
      %t = math.tanh %e : f32
      %u = arith.mulf %t, %e : f32
      attn.yield %u : f32
    } : !attn.tile<16x16xf32>
    %m2, %l2, %p, %alpha = attn.online_softmax %z, %m, %l exp2_scale(0.18) : !attn.tile<16x16xf32>, !attn.tile<16xf32>, !attn.tile<16xf32> -> !attn.tile<16xf32>, !attn.tile<16xf32>, !attn.tile<16x16xf32>, !attn.tile<16xf32>
    %pb = attn.cast %p : !attn.tile<16x16xf32> to !attn.tile<16x16xf16>
    %vt = attn.load_tile %v[%b, %hk, %j0] : tensor<?x1x?x64xf16> -> !attn.tile<16x64xf16>
    %a2 = attn.accumulate %pb, %vt into %acc scaled_by %alpha : !attn.tile<16x16xf16>, !attn.tile<16x64xf16>, !attn.tile<16x64xf32>, !attn.tile<16xf32> -> !attn.tile<16x64xf32>
    attn.yield %m2, %l2, %a2 : !attn.tile<16xf32>, !attn.tile<16xf32>, !attn.tile<16x64xf32>
  }
  %on, %ln = attn.normalize %r#2 by %r#1 max %r#0 exp2_scale(0.18) : !attn.tile<16x64xf32>, !attn.tile<16xf32>, !attn.tile<16xf32> -> !attn.tile<16x64xf32>, !attn.tile<16xf32>
  attn.store_tile %on, %o[%b, %h, %i0] : !attn.tile<16x64xf32>, tensor<?x2x?x64xf16>
}
