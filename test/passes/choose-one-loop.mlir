// Where the score function is large, full and masked key blocks share one loop (sm_80): two copies would double ptxas's time.
// RUN: qm-opt %s --qm-assign-precision --qm-choose-schedule=target=sm_80 | FileCheck %s
// RUN: qm-opt %s --qm-assign-precision --qm-choose-schedule="target=sm_80 set=schedule.one_loop=0" | FileCheck %s --check-prefix=SET
// RUN: sed s/math.tanh/arith.negf/ %s | qm-opt --qm-assign-precision --qm-choose-schedule=target=sm_80 | FileCheck %s --check-prefix=SMALL

// CHECK: schedule = #attn.schedule<target = "sm_80", tile_m = 128, tile_n = 64, warps = 8, stages = 3, one_loop = 1>
// SET:   schedule = #attn.schedule<target = "sm_80", tile_m = 128, tile_n = 64, warps = 8, stages = 3>
// Else, past head dim 128, two groups of warps take turns.
// SMALL: schedule = #attn.schedule<target = "sm_80", tile_m = 128, tile_n = 32, warps = 8, stages = 3, ping_pong = 1>
attn.kernel @f(%q: tensor<?x2x?x256xbf16>, %k: tensor<?x2x?x256xbf16>, %v: tensor<?x2x?x256xbf16>) outs(%o: tensor<?x2x?x256xbf16>)
    attributes {arg_names = ["q", "k", "v", "o"]} {
  %b, %h, %i0 = attn.tile_position
  %qt = attn.load_tile %q[%b, %h, %i0] : tensor<?x2x?x256xbf16> -> !attn.tile<?x256xbf16>
  %m0 = attn.fill 0xFF800000 : !attn.tile<?xf32>
  %l0 = attn.fill 0.0 : !attn.tile<?xf32>
  %a0 = attn.fill 0.0 : !attn.tile<?x256xf32>
  %r:3 = attn.key_blocks (%j0) iter(%m = %m0, %l = %l0, %acc = %a0) : !attn.tile<?xf32>, !attn.tile<?xf32>, !attn.tile<?x256xf32> {
    %kt = attn.load_tile %k[%b, %h, %j0] : tensor<?x2x?x256xbf16> -> !attn.tile<?x256xbf16>
    %s0 = attn.dot %qt, %kt : !attn.tile<?x256xbf16>, !attn.tile<?x256xbf16> -> !attn.tile<?x?xf32>
    %s1 = attn.map %s0 at [%i0, %j0] (%e, %i, %j) {
      %t = math.tanh %e : f32
      attn.yield %t : f32
    } : !attn.tile<?x?xf32>
    %m2, %l2, %p, %alpha = attn.online_softmax %s1, %m, %l : !attn.tile<?x?xf32>, !attn.tile<?xf32>, !attn.tile<?xf32>
      -> !attn.tile<?xf32>, !attn.tile<?xf32>, !attn.tile<?x?xf32>, !attn.tile<?xf32>
    %vt = attn.load_tile %v[%b, %h, %j0] : tensor<?x2x?x256xbf16> -> !attn.tile<?x256xbf16>
    %a2 = attn.accumulate %p, %vt into %acc scaled_by %alpha : !attn.tile<?x?xf32>, !attn.tile<?x256xbf16>, !attn.tile<?x256xf32>, !attn.tile<?xf32> -> !attn.tile<?x256xf32>
    attn.yield %m2, %l2, %a2 : !attn.tile<?xf32>, !attn.tile<?xf32>, !attn.tile<?x256xf32>
  }
  %on, %ln = attn.normalize %r#2 by %r#1 max %r#0 : !attn.tile<?x256xf32>, !attn.tile<?xf32>, !attn.tile<?xf32> -> !attn.tile<?x256xf32>, !attn.tile<?xf32>
  attn.store_tile %on, %o[%b, %h, %i0] : !attn.tile<?x256xf32>, tensor<?x2x?x256xbf16>
}
