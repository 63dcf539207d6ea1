// The PTX text of every instruction that a kernel uses, as the facade emits it: offsets are part of the instruction.
// RUN: qm-opt %s --qm-sm80-pipeline | FileCheck %s

// A kernel of the smallest tile: one warp, 16 rows, 16 keys, head dim 64.
attn.kernel @golden(%q: tensor<?x1x?x64xbf16>, %k: tensor<?x1x?x64xbf16>, %v: tensor<?x1x?x64xbf16>)
    outs(%o: tensor<?x1x?x64xbf16>, %lse: tensor<?x1x?xf32>)
    attributes {arg_names = ["q", "k", "v", "o", "lse"],
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
  attn.store_tile %ln, %lse[%b, %h, %i0] : !attn.tile<16xf32>, tensor<?x1x?xf32>
}

// CHECK:      llvm.mlir.global external @qm_shared() {addr_space = 3 : i32, alignment = 1024 : i64
// CHECK:      llvm.func @golden(%{{.*}}: !llvm.ptr {llvm.align = 8 : i64, llvm.byval = !llvm.array<43 x i64>, nvvm.grid_constant})
// CHECK-SAME: attn.shared_bytes = 6144 : i64
// CHECK-SAME: nvvm.kernel
// CHECK-SAME: nvvm.reqntid = array<i32: 32, 1, 1>

// The query tile, with rows past the end as zeros; rows 4 apart are 512 bytes apart.
// CHECK:      llvm.inline_asm has_side_effects "cp.async.cg.shared.global.L2::128B [$0+0], [$1+0], 16, $2;", "r,l,r,~{memory}"
// CHECK:      llvm.inline_asm has_side_effects "mad.lo.s64 $0, $1, 8, $2;", "=l,l,l"
// CHECK:      llvm.inline_asm has_side_effects "cp.async.cg.shared.global.L2::128B [$0+512], [$1+0], 16, $2;"
// The first key tile behind it, then the loop.
// CHECK:      "cp.async.cg.shared.global.L2::128B [$0+2048], [$1+0], 16, $2;"
// CHECK:      nvvm.cp.async.commit.group
// CHECK:      nvvm.cp.async.wait.group 0
// CHECK:      nvvm.barrier
// Q's fragments stay in registers: a step of 16 columns is an exclusive or.
// CHECK:      "ldmatrix.sync.aligned.m8n8.x4.shared.b16 {$0,$1,$2,$3}, [$4+0];", "=r,=r,=r,=r,r,~{memory}"
// CHECK:      "{ .reg .b32 a; xor.b32 a, $4, 32; ldmatrix.sync.aligned.m8n8.x4.shared.b16 {$0,$1,$2,$3}, [a+0]; }"
// CHECK:      "{ .reg .b32 a; xor.b32 a, $4, 96; ldmatrix.sync.aligned.m8n8.x4.shared.b16 {$0,$1,$2,$3}, [a+0]; }"

// Scores: the first product of a block starts from zero, the next ones accumulate in place.
// CHECK:      "ldmatrix.sync.aligned.m8n8.x4.shared.b16 {$0,$1,$2,$3}, [$4+2048];"
// CHECK:      "mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {$0,$1,$2,$3}, {$4,$5,$6,$7}, {$8,$9}, {$10,$10,$10,$10};", "=f,=f,=f,=f,r,r,r,r,r,r,f"
// The value tile is copied meanwhile.
// CHECK:      "cp.async.cg.shared.global.L2::128B [$0+4096], [$1+0], 16, $2;"
// CHECK:      "mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {$0,$1,$2,$3}, {$4,$5,$6,$7}, {$8,$9}, {$0,$1,$2,$3};", "=f,=f,=f,=f,r,r,r,r,r,r,0,1,2,3"

// The vote; shuffles only behind it.
// CHECK:      nvvm.vote.sync any
// CHECK:      nvvm.shfl.sync bfly
// CHECK:      "ex2.approx.ftz.f32 $0, $1;", "=f,f"

// CHECK:      "ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {$0,$1,$2,$3}, [$4+4096];"
// CHECK:      "cvt.rn.bf16x2.f32 $0, $1, $2;", "=r,f,f"

// Epilogue: coordinates are read again.
// CHECK:      "mov.u32 $0, %tid.x;", "=r"
// CHECK:      nvvm.rcp.approx.ftz.f
// CHECK:      "lg2.approx.f32 $0, $1;"
// CHECK:      "st.shared.b32 [$0+0], $1;", "r,r,~{memory}"
// CHECK:      nvvm.bar.warp.sync
// CHECK:      "ld.shared.v4.b32 {$0,$1,$2,$3}, [$4+0];"
// CHECK:      "@$0 st.global.v4.b32 [$1], {$2,$3,$4,$5};", "b,l,r,r,r,r,~{memory}"
