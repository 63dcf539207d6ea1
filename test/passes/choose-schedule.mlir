// RUN: qm-opt %s --qm-assign-precision --qm-choose-schedule=target=sm_80 | FileCheck %s --check-prefix=SM80
// RUN: qm-opt %s --qm-assign-precision --qm-choose-schedule="target=sm_80 set=schedule.tile_n=32,schedule.stages=3,schedule.warps=4,schedule.tile_m=128,schedule.ping_pong=0" | FileCheck %s --check-prefix=SET
// RUN: qm-opt %s --qm-assign-precision --qm-choose-schedule=target=x86-64-v4 | FileCheck %s --check-prefix=V4
// RUN: qm-opt %s --qm-assign-precision --qm-choose-schedule=target=x86-64-v3 | FileCheck %s --check-prefix=V3

// Every '?' becomes a number: rows of q by keys of a block.
// SM80: schedule = #attn.schedule<target = "sm_80", tile_m = 256, tile_n = 64, warps = 8, stages = 3, ping_pong = 1>
// SM80: -> !attn.tile<256x64xbf16>
// SM80: iter({{.*}}) : !attn.tile<256xf32>, !attn.tile<256xf32>, !attn.tile<256x64xf32>
// SM80: attn.load_tile %k{{.*}} -> !attn.tile<64x64xbf16>
// SM80: attn.dot {{.*}} -> !attn.tile<256x64xf32>
// SM80: attn.cast {{.*}} to !attn.tile<256x64xbf16>
// SM80-NOT: attn.tile<?

// SET: schedule = #attn.schedule<target = "sm_80", tile_m = 128, tile_n = 32, warps = 4, stages = 3>
// SET: attn.load_tile %k{{.*}} -> !attn.tile<32x64xbf16>

// V4: schedule = #attn.schedule<target = "x86-64-v4", {{.*}}, warps = 1, stages = 1, micro_m = 48, micro_n = 8>
// V4-NOT: attn.tile<?
// V3: schedule = #attn.schedule<target = "x86-64-v3", {{.*}}, warps = 1, stages = 1, micro_m = 24, micro_n = 4>
attn.kernel @f(%q: tensor<?x2x?x64xbf16>, %k: tensor<?x2x?x64xbf16>, %v: tensor<?x2x?x64xbf16>) outs(%o: tensor<?x2x?x64xbf16>)
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
