// RUN: qm-opt %s --qm-assign-precision --qm-choose-schedule=target=sm_90a | FileCheck %s
// RUN: qm-opt %s --qm-assign-precision --qm-choose-schedule="target=sm_90a set=schedule.query_buffers=1,schedule.dynamic_order=0" | FileCheck %s --check-prefix=SET
// RUN: not qm-opt %s --qm-assign-precision --qm-choose-schedule="target=sm_90a set=schedule.poly_exp2=17" 2>&1 | FileCheck %s --check-prefix=POLY
// RUN: not qm-opt %s --qm-assign-precision --qm-choose-schedule="target=sm_90a set=schedule.ping_pong=2" 2>&1 | FileCheck %s --check-prefix=VALUE

// Head dim 64 without a mask: three consumers.
// CHECK-LABEL: attn.kernel @small
// CHECK-SAME: #attn.schedule<target = "sm_90a", tile_m = 192, tile_n = 128, warps = 16, stages = 2, consumers = 3, query_buffers = 2, producer_registers = 32, consumer_registers = 160, persistent = 1>

// With one: two consumers in turns, tiles handed out at run time.
// CHECK-LABEL: attn.kernel @masked
// CHECK-SAME: tile_m = 128, tile_n = 128, warps = 12, stages = 2, consumers = 2, query_buffers = 2, producer_registers = 24, consumer_registers = 240, ping_pong = 1, persistent = 1, dynamic_order = 1>

// Head dim 256 leaves room for one query buffer and key blocks of 80.
// CHECK-LABEL: attn.kernel @wide
// CHECK-SAME: tile_m = 128, tile_n = 80, warps = 12, stages = 2, consumers = 2, query_buffers = 1,

// SET-LABEL: attn.kernel @masked
// SET-SAME: query_buffers = 1, producer_registers = 24, consumer_registers = 240, ping_pong = 1, persistent = 1>
// POLY: error: QM0303: 'schedule.poly_exp2=17': '17' is not allowed here
// POLY: help: allowed: an integer from 0 to 16
// VALUE: error: QM0303: 'schedule.ping_pong=2': '2' is not allowed here
// VALUE: help: allowed: 0 or 1
attn.kernel @small(%q: tensor<?x2x?x64xbf16>, %k: tensor<?x2x?x64xbf16>, %v: tensor<?x2x?x64xbf16>) outs(%o: tensor<?x2x?x64xbf16>)
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

attn.kernel @masked(%q: tensor<?x2x?x64xbf16>, %k: tensor<?x2x?x64xbf16>, %v: tensor<?x2x?x64xbf16>) outs(%o: tensor<?x2x?x64xbf16>)
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
  } classify (%ilo, %ihi, %jlo, %jhi) {
    %any = arith.cmpi sle, %jlo, %ihi : i32
    %all = arith.cmpi sle, %jhi, %ilo : i32
    attn.yield %any, %all : i1, i1
  }
  %on, %ln = attn.normalize %r#2 by %r#1 max %r#0 : !attn.tile<?x64xf32>, !attn.tile<?xf32>, !attn.tile<?xf32> -> !attn.tile<?x64xf32>, !attn.tile<?xf32>
  attn.store_tile %on, %o[%b, %h, %i0] : !attn.tile<?x64xf32>, tensor<?x2x?x64xbf16>
}

attn.kernel @wide(%q: tensor<?x2x?x256xbf16>, %k: tensor<?x2x?x256xbf16>, %v: tensor<?x2x?x256xbf16>) outs(%o: tensor<?x2x?x256xbf16>)
    attributes {arg_names = ["q", "k", "v", "o"]} {
  %b, %h, %i0 = attn.tile_position
  %qt = attn.load_tile %q[%b, %h, %i0] : tensor<?x2x?x256xbf16> -> !attn.tile<?x256xbf16>
  %m0 = attn.fill 0xFF800000 : !attn.tile<?xf32>
  %l0 = attn.fill 0.0 : !attn.tile<?xf32>
  %a0 = attn.fill 0.0 : !attn.tile<?x256xf32>
  %r:3 = attn.key_blocks (%j0) iter(%m = %m0, %l = %l0, %acc = %a0) : !attn.tile<?xf32>, !attn.tile<?xf32>, !attn.tile<?x256xf32> {
    %kt = attn.load_tile %k[%b, %h, %j0] : tensor<?x2x?x256xbf16> -> !attn.tile<?x256xbf16>
    %s0 = attn.dot %qt, %kt : !attn.tile<?x256xbf16>, !attn.tile<?x256xbf16> -> !attn.tile<?x?xf32>
    %m2, %l2, %p, %alpha = attn.online_softmax %s0, %m, %l : !attn.tile<?x?xf32>, !attn.tile<?xf32>, !attn.tile<?xf32>
      -> !attn.tile<?xf32>, !attn.tile<?xf32>, !attn.tile<?x?xf32>, !attn.tile<?xf32>
    %vt = attn.load_tile %v[%b, %h, %j0] : tensor<?x2x?x256xbf16> -> !attn.tile<?x256xbf16>
    %a2 = attn.accumulate %p, %vt into %acc scaled_by %alpha : !attn.tile<?x?xf32>, !attn.tile<?x256xbf16>, !attn.tile<?x256xf32>, !attn.tile<?xf32> -> !attn.tile<?x256xf32>
    attn.yield %m2, %l2, %a2 : !attn.tile<?xf32>, !attn.tile<?xf32>, !attn.tile<?x256xf32>
  }
  %on, %ln = attn.normalize %r#2 by %r#1 max %r#0 : !attn.tile<?x256xf32>, !attn.tile<?xf32>, !attn.tile<?xf32> -> !attn.tile<?x256xf32>, !attn.tile<?xf32>
  attn.store_tile %on, %o[%b, %h, %i0] : !attn.tile<?x256xf32>, tensor<?x2x?x256xbf16>
}
