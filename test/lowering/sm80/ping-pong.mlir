// Ping-pong: two groups of warps take turns at the products. The product with the values of a block is put off to the next
// block's turn; without a mask the last block comes first, so that the loop has no code for absent keys.
// RUN: qm-opt %s --qm-lower-to-sm80 | FileCheck %s
// Where Q does not stay in registers, the first fragments of a product with keys are read while the one before it ends.
// RUN: sed 's/tile_m = 32/tile_m = 64/; s/<32x64x/<64x128x/g; s/<16x64x/<16x128x/g; s/<32x16x/<64x16x/g; s/<32xf32/<64xf32/g; s/?x64xbf16/?x128xbf16/g' %s > %t.wide.mlir
// RUN: qm-opt %t.wide.mlir --qm-lower-to-sm80 | FileCheck %s --check-prefix=EARLY
// EARLY:          scf.while
// EARLY:          bar.sync 2, 64
// EARLY-COUNT-24: mma.sync
// EARLY-NOT:      mma.sync
// EARLY-COUNT-5:  ldmatrix.sync.aligned.m8n8.x4.shared
// EARLY-NOT:      mma.sync
// EARLY:          nvvm.bar.warp.sync
// EARLY-COUNT-8:  mma.sync
// The ring: where there is no block, a barrier before the output goes over the query rows; a fence every four groups of mma.
// RUN: sed 's/, ping_pong = 1//' %t.wide.mlir | qm-opt --qm-lower-to-sm80 | FileCheck %s --check-prefix=FENCE
// FENCE:          scf.if
// FENCE-NEXT:       nvvm.cp.async.wait.group 1
// FENCE-NEXT:       nvvm.barrier
// FENCE-NEXT:     }
// FENCE:          nvvm.cp.async.wait.group 1
// FENCE-COUNT-16: mma.sync
// FENCE-NOT:      mma.sync
// FENCE:          nvvm.bar.warp.sync
// FENCE-COUNT-16: mma.sync
// FENCE:          nvvm.vote.sync any

attn.kernel @f(%q: tensor<?x1x?x64xbf16>, %k: tensor<?x1x?x64xbf16>, %v: tensor<?x1x?x64xbf16>)
    outs(%o: tensor<?x1x?x64xbf16>)
    attributes {arg_names = ["q", "k", "v", "o"],
      schedule = #attn.schedule<target = "sm_80", tile_m = 32, tile_n = 16, warps = 2, stages = 3, ping_pong = 1>} {
  %b, %h, %i0 = attn.tile_position
  %qt = attn.load_tile %q[%b, %h, %i0] : tensor<?x1x?x64xbf16> -> !attn.tile<32x64xbf16>
  %m0 = attn.fill 0xFF800000 : !attn.tile<32xf32>
  %l0 = attn.fill 0.0 : !attn.tile<32xf32>
  %a0 = attn.fill 0.0 : !attn.tile<32x64xf32>
  %r:3 = attn.key_blocks (%j0) iter(%m = %m0, %l = %l0, %acc = %a0) : !attn.tile<32xf32>, !attn.tile<32xf32>, !attn.tile<32x64xf32> {
    %kt = attn.load_tile %k[%b, %h, %j0] : tensor<?x1x?x64xbf16> -> !attn.tile<16x64xbf16>
    %s = attn.dot %qt, %kt : !attn.tile<32x64xbf16>, !attn.tile<16x64xbf16> -> !attn.tile<32x16xf32>
    %m2, %l2, %p, %alpha = attn.online_softmax %s, %m, %l exp2_scale(0.18) : !attn.tile<32x16xf32>, !attn.tile<32xf32>, !attn.tile<32xf32> -> !attn.tile<32xf32>, !attn.tile<32xf32>, !attn.tile<32x16xf32>, !attn.tile<32xf32>
    %pb = attn.cast %p : !attn.tile<32x16xf32> to !attn.tile<32x16xbf16>
    %vt = attn.load_tile %v[%b, %h, %j0] : tensor<?x1x?x64xbf16> -> !attn.tile<16x64xbf16>
    %a2 = attn.accumulate %pb, %vt into %acc scaled_by %alpha : !attn.tile<32x16xbf16>, !attn.tile<16x64xbf16>, !attn.tile<32x64xf32>, !attn.tile<32xf32> -> !attn.tile<32x64xf32>
    attn.yield %m2, %l2, %a2 : !attn.tile<32xf32>, !attn.tile<32xf32>, !attn.tile<32x64xf32>
  }
  %on, %ln = attn.normalize %r#2 by %r#1 max %r#0 exp2_scale(0.18) : !attn.tile<32x64xf32>, !attn.tile<32xf32>, !attn.tile<32xf32> -> !attn.tile<32x64xf32>, !attn.tile<32xf32>
  attn.store_tile %on, %o[%b, %h, %i0] : !attn.tile<32x64xf32>, tensor<?x1x?x64xbf16>
}

// The query tile, three key and three value tiles.
// CHECK-LABEL: llvm.func @f
// CHECK-SAME:  attn.shared_bytes = 16384 : i64

// Group 1 lets group 0 begin; phase 0 has one product, masks absent keys and hands over.
// CHECK:       nvvm.barrier
// CHECK:       bar.arrive 1, 64
// CHECK:       bar.sync 2, 64{{.*}}bar.sync 1, 64
// CHECK-COUNT-2: mma.sync
// CHECK:       bar.arrive 1, 64
// CHECK:       bar.arrive 2, 64
// CHECK-COUNT-6: mma.sync
// CHECK-NOT:   mma.sync
// CHECK:       scf.if

// A turn: the first values are read before it, both products are in it, and it ends before the last groups of mma.
// CHECK:       scf.while
// CHECK:       scf.condition
// CHECK-COUNT-2: ldmatrix{{.*}}.trans
// CHECK:         bar.sync 2, 64{{.*}}bar.sync 1, 64
// CHECK-COUNT-10: mma.sync
// CHECK:         bar.arrive 2, 64
// CHECK-COUNT-6: mma.sync
// CHECK-NOT:     mma.sync
// CHECK:         nvvm.vote.sync any
// CHECK:         scf.yield

// The last product, in a turn of its own.
// CHECK:       bar.sync 2, 64{{.*}}bar.sync 1, 64
// CHECK:       bar.arrive 2, 64
// CHECK-COUNT-8: mma.sync
// CHECK-NOT:   mma.sync
// CHECK:       st.global
