// Tiles by way of registers, mma of depth 8, and two warps along the keys.
// RUN: qm-opt %s --pass-pipeline='builtin.module(qm-lower-to-sm75)' | FileCheck %s

// One warp with all keys. The query tile and the first key and value tiles are read, whole tiles without asking, else with
// zeros where there is no row, and then written.
// CHECK-LABEL: llvm.func @single
// CHECK-SAME:  attn.shared_bytes = 6144
// CHECK-SAME:  nvvm.reqntid = array<i32: 32, 1, 1>
// CHECK:       scf.if
// CHECK-COUNT-4: "ld.global.nc.v4.b32 {$0,$1,$2,$3}, [$4+0];"
// CHECK:       } else {
// CHECK-COUNT-4: "{ mov.b32 $0, 0; mov.b32 $1, 0; mov.b32 $2, 0; mov.b32 $3, 0; @$5 ld.global.nc.v4.b32 {$0,$1,$2,$3}, [$4+0]; }"
// CHECK:       "st.shared.v4.b32 [$0+0], {$1,$2,$3,$4};"
// CHECK:       "st.shared.v4.b32 [$0+2048], {$1,$2,$3,$4};"
// CHECK:       "st.shared.v4.b32 [$0+4096], {$1,$2,$3,$4};"
// CHECK-NOT:   ld.global
// CHECK:       nvvm.barrier
// Q's fragments stay in registers.
// CHECK:       "ldmatrix.sync.aligned.m8n8.x4.shared.b16 {$0,$1,$2,$3}, [$4+0];"
// CHECK:       scf.while
// The next key tile is read before the first product, written behind the barrier after it, and the next value tile read.
// CHECK-NOT:   cp.async
// CHECK-COUNT-8: ld.global.nc.v4.b32
// CHECK:       "mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32 {$0,$1,$2,$3}, {$4,$5}, {$6}, {$7,$7,$7,$7};"
// CHECK:       "mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32 {$0,$1,$2,$3}, {$4,$5}, {$6}, {$0,$1,$2,$3};"
// CHECK:       nvvm.barrier
// CHECK:       "st.shared.v4.b32 [$0+2048], {$1,$2,$3,$4};"
// CHECK-COUNT-8: ld.global.nc.v4.b32
// CHECK:       nvvm.vote.sync any
// CHECK:       "ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {$0,$1,$2,$3}, [$4+4096];"
// CHECK:       "{ .reg .b16 low, high; cvt.rn.f16.f32 low, $1; cvt.rn.f16.f32 high, $2; mov.b32 $0, {low, high}; }"
// CHECK:       nvvm.barrier
// CHECK:       "st.shared.v4.b32 [$0+4096], {$1,$2,$3,$4};"
// CHECK:       scf.yield
// CHECK-NOT:   exit;
// CHECK:       llvm.return
attn.kernel @single(%q: tensor<?x1x?x64xf16>, %k: tensor<?x1x?x64xf16>, %v: tensor<?x1x?x64xf16>)
    outs(%o: tensor<?x1x?x64xf16>)
    attributes {arg_names = ["q", "k", "v", "o"],
      precision = #attn.precision<qk = f16, pv = f16, p = f16, score = f32, stat = f32, acc = f32>,
      schedule = #attn.schedule<target = "sm_75", tile_m = 16, tile_n = 16, warps = 1, stages = 2>} {
  %b, %h, %i0 = attn.tile_position
  %qt = attn.load_tile %q[%b, %h, %i0] : tensor<?x1x?x64xf16> -> !attn.tile<16x64xf16>
  %m0 = attn.fill 0xFF800000 : !attn.tile<16xf32>
  %l0 = attn.fill 0.0 : !attn.tile<16xf32>
  %a0 = attn.fill 0.0 : !attn.tile<16x64xf32>
  %r:3 = attn.key_blocks (%j0) iter(%m = %m0, %l = %l0, %acc = %a0) : !attn.tile<16xf32>, !attn.tile<16xf32>, !attn.tile<16x64xf32> {
    %kt = attn.load_tile %k[%b, %h, %j0] : tensor<?x1x?x64xf16> -> !attn.tile<16x64xf16>
    %s = attn.dot %qt, %kt : !attn.tile<16x64xf16>, !attn.tile<16x64xf16> -> !attn.tile<16x16xf32>
    %m2, %l2, %p, %alpha = attn.online_softmax %s, %m, %l exp2_scale(0.18) : !attn.tile<16x16xf32>, !attn.tile<16xf32>, !attn.tile<16xf32> -> !attn.tile<16xf32>, !attn.tile<16xf32>, !attn.tile<16x16xf32>, !attn.tile<16xf32>
    %pb = attn.cast %p : !attn.tile<16x16xf32> to !attn.tile<16x16xf16>
    %vt = attn.load_tile %v[%b, %h, %j0] : tensor<?x1x?x64xf16> -> !attn.tile<16x64xf16>
    %a2 = attn.accumulate %pb, %vt into %acc scaled_by %alpha : !attn.tile<16x16xf16>, !attn.tile<16x64xf16>, !attn.tile<16x64xf32>, !attn.tile<16xf32> -> !attn.tile<16x64xf32>
    attn.yield %m2, %l2, %a2 : !attn.tile<16xf32>, !attn.tile<16xf32>, !attn.tile<16x64xf32>
  }
  %on, %ln = attn.normalize %r#2 by %r#1 max %r#0 exp2_scale(0.18) : !attn.tile<16x64xf32>, !attn.tile<16xf32>, !attn.tile<16xf32> -> !attn.tile<16x64xf32>, !attn.tile<16xf32>
  attn.store_tile %on, %o[%b, %h, %i0] : !attn.tile<16x64xf32>, tensor<?x1x?x64xf16>
}

// Eight warps: four along the rows, two along the keys of a block, all of 64 KB.
// CHECK-LABEL: llvm.func @split
// CHECK-SAME:  attn.shared_bytes = 65536
// CHECK-SAME:  nvvm.reqntid = array<i32: 256, 1, 1>
// The first fragments of a block are read before the loop, and behind the last barrier of the block before it.
// CHECK:       nvvm.barrier
// CHECK:       ldmatrix.sync.aligned.m8n8.x4.shared.b16 {$0,$1,$2,$3}, [$4+0];
// CHECK:       ldmatrix.sync.aligned.m8n8.x4.shared.b16 {$0,$1,$2,$3}, [$4+32768];
// CHECK:       nvvm.bar.warp.sync
// CHECK:       scf.while
// CHECK:       nvvm.barrier
// CHECK-COUNT-16: ldmatrix.sync.aligned.m8n8.x4.trans
// CHECK:       nvvm.barrier
// CHECK:       ldmatrix.sync.aligned.m8n8.x4.shared.b16 {$0,$1,$2,$3}, [$4+0];
// CHECK:       ldmatrix.sync.aligned.m8n8.x4.shared.b16 {$0,$1,$2,$3}, [$4+32768];
// CHECK:       nvvm.bar.warp.sync
// CHECK-NEXT:  scf.yield
// Each warp sends its partner the row tile that the partner keeps: statistics and 8 of 16 column groups, then the rest. All
// eight warps store rows.
// CHECK:       nvvm.barrier
// CHECK-COUNT-2: "@$5 st.shared.v4.b32 [$0+0], {$1,$2,$3,$4};", "r,f,f,f,f,b,~{memory}"
// CHECK-COUNT-16: "r,f,f,f,f,b,~{memory}"
// CHECK:       nvvm.barrier
// CHECK-COUNT-4: "selp.f32 $0, $1, $2, $3;"
// CHECK-COUNT-9: "ld.shared.v4.f32 {$0,$1,$2,$3}, [$4+
// CHECK:       nvvm.barrier
// CHECK-COUNT-16: "r,f,f,f,f,b,~{memory}"
// CHECK:       nvvm.barrier
// CHECK-COUNT-8: "ld.shared.v4.f32 {$0,$1,$2,$3}, [$4+
// CHECK-NOT:   ld.shared.v4.f32
// CHECK:       nvvm.barrier
// CHECK-NOT:   exit;
// CHECK:       nvvm.bar.warp.sync
// CHECK-COUNT-8: st.global.v4.b32
// CHECK-NOT:   st.global.v4.b32
// CHECK:       llvm.return
attn.kernel @split(%q: tensor<?x1x?x128xf16>, %k: tensor<?x1x?x128xf16>, %v: tensor<?x1x?x128xf16>)
    outs(%o: tensor<?x1x?x128xf16>)
    attributes {arg_names = ["q", "k", "v", "o"],
      precision = #attn.precision<qk = f16, pv = f16, p = f16, score = f32, stat = f32, acc = f32>,
      schedule = #attn.schedule<target = "sm_75", tile_m = 128, tile_n = 64, warps = 8, stages = 2, micro_m = 32, micro_n = 32>} {
  %b, %h, %i0 = attn.tile_position
  %qt = attn.load_tile %q[%b, %h, %i0] : tensor<?x1x?x128xf16> -> !attn.tile<128x128xf16>
  %m0 = attn.fill 0xFF800000 : !attn.tile<128xf32>
  %l0 = attn.fill 0.0 : !attn.tile<128xf32>
  %a0 = attn.fill 0.0 : !attn.tile<128x128xf32>
  %r:3 = attn.key_blocks (%j0) iter(%m = %m0, %l = %l0, %acc = %a0) : !attn.tile<128xf32>, !attn.tile<128xf32>, !attn.tile<128x128xf32> {
    %kt = attn.load_tile %k[%b, %h, %j0] : tensor<?x1x?x128xf16> -> !attn.tile<64x128xf16>
    %s = attn.dot %qt, %kt : !attn.tile<128x128xf16>, !attn.tile<64x128xf16> -> !attn.tile<128x64xf32>
    %m2, %l2, %p, %alpha = attn.online_softmax %s, %m, %l exp2_scale(0.18) : !attn.tile<128x64xf32>, !attn.tile<128xf32>, !attn.tile<128xf32> -> !attn.tile<128xf32>, !attn.tile<128xf32>, !attn.tile<128x64xf32>, !attn.tile<128xf32>
    %pb = attn.cast %p : !attn.tile<128x64xf32> to !attn.tile<128x64xf16>
    %vt = attn.load_tile %v[%b, %h, %j0] : tensor<?x1x?x128xf16> -> !attn.tile<64x128xf16>
    %a2 = attn.accumulate %pb, %vt into %acc scaled_by %alpha : !attn.tile<128x64xf16>, !attn.tile<64x128xf16>, !attn.tile<128x128xf32>, !attn.tile<128xf32> -> !attn.tile<128x128xf32>
    attn.yield %m2, %l2, %a2 : !attn.tile<128xf32>, !attn.tile<128xf32>, !attn.tile<128x128xf32>
  }
  %on, %ln = attn.normalize %r#2 by %r#1 max %r#0 exp2_scale(0.18) : !attn.tile<128x128xf32>, !attn.tile<128xf32>, !attn.tile<128xf32> -> !attn.tile<128x128xf32>, !attn.tile<128xf32>
  attn.store_tile %on, %o[%b, %h, %i0] : !attn.tile<128x128xf32>, tensor<?x1x?x128xf16>
}

// Kernels for other targets are left alone.
// CHECK-LABEL: attn.kernel @other
attn.kernel @other(%q: tensor<?x1x?x64xbf16>, %k: tensor<?x1x?x64xbf16>, %v: tensor<?x1x?x64xbf16>)
    outs(%o: tensor<?x1x?x64xbf16>)
    attributes {arg_names = ["q", "k", "v", "o"],
      precision = #attn.precision<qk = bf16, pv = bf16, p = bf16, score = f32, stat = f32, acc = f32>,
      schedule = #attn.schedule<target = "sm_80", tile_m = 16, tile_n = 16, warps = 1, stages = 2>} {
  %b, %h, %i0 = attn.tile_position
  %qt = attn.load_tile %q[%b, %h, %i0] : tensor<?x1x?x64xbf16> -> !attn.tile<16x64xbf16>
  %m0 = attn.fill 0xFF800000 : !attn.tile<16xf32>
  %l0 = attn.fill 0.0 : !attn.tile<16xf32>
  %a0 = attn.fill 0.0 : !attn.tile<16x64xf32>
  %r:3 = attn.key_blocks (%j0) iter(%m = %m0, %l = %l0, %acc = %a0) : !attn.tile<16xf32>, !attn.tile<16xf32>, !attn.tile<16x64xf32> {
    %kt = attn.load_tile %k[%b, %h, %j0] : tensor<?x1x?x64xbf16> -> !attn.tile<16x64xbf16>
    %s = attn.dot %qt, %kt : !attn.tile<16x64xbf16>, !attn.tile<16x64xbf16> -> !attn.tile<16x16xf32>
    %m2, %l2, %p, %alpha = attn.online_softmax %s, %m, %l exp2_scale(0.18) : !attn.tile<16x16xf32>, !attn.tile<16xf32>, !attn.tile<16xf32> -> !attn.tile<16xf32>, !attn.tile<16xf32>, !attn.tile<16x16xf32>, !attn.tile<16xf32>
    %pb = attn.cast %p : !attn.tile<16x16xf32> to !attn.tile<16x16xbf16>
    %vt = attn.load_tile %v[%b, %h, %j0] : tensor<?x1x?x64xbf16> -> !attn.tile<16x64xbf16>
    %a2 = attn.accumulate %pb, %vt into %acc scaled_by %alpha : !attn.tile<16x16xbf16>, !attn.tile<16x64xbf16>, !attn.tile<16x64xf32>, !attn.tile<16xf32> -> !attn.tile<16x64xf32>
    attn.yield %m2, %l2, %a2 : !attn.tile<16xf32>, !attn.tile<16xf32>, !attn.tile<16x64xf32>
  }
  %on, %ln = attn.normalize %r#2 by %r#1 max %r#0 exp2_scale(0.18) : !attn.tile<16x64xf32>, !attn.tile<16xf32>, !attn.tile<16xf32> -> !attn.tile<16x64xf32>, !attn.tile<16xf32>
  attn.store_tile %on, %o[%b, %h, %i0] : !attn.tile<16x64xf32>, tensor<?x1x?x64xbf16>
}
