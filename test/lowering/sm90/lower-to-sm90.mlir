// RUN: qm-opt %s --qm-lower-to-sm90 | FileCheck %s --implicit-check-not=attn.kernel
// RUN: qm-opt %s --qm-lower-to-sm90 | FileCheck %s --check-prefix=STEP

// The frame: one parameter more for each tensor map and one for the tile counter, both launch bounds (setmaxnreg is ignored
// without them), the maps prefetched, three rings of two buffers with an arrival of the producer and one of each consumer, four barriers for
// staged outputs, the queue of tiles.
// CHECK: llvm.mlir.global internal @qm_tile_counters(dense<0>
// CHECK: llvm.func @f(%{{.*}}: !llvm.ptr {llvm.align = 8 : i64, llvm.byval = !llvm.array<43 x i64>, nvvm.grid_constant},
// CHECK-SAME: {llvm.align = 64 : i64, llvm.byval = !llvm.array<16 x i64>, nvvm.grid_constant}
// CHECK-SAME: %{{.*}}: i32)
// CHECK-SAME: attn.shared_bytes = 98528
// CHECK-SAME: nvvm.kernel, nvvm.minctasm = 1 : i32, nvvm.reqntid = array<i32: 384, 1, 1>
// CHECK-COUNT-4: prefetch.tensormap
// CHECK: mbarrier.init.shared::cta.b64 [$0+98304], 1;
// CHECK: mbarrier.init.shared::cta.b64 [$0+98320], 2;
// CHECK: mbarrier.init.shared::cta.b64 [$0+98400], 4;
// CHECK: mbarrier.init.shared::cta.b64 [$0+98432], 1;
// CHECK: mbarrier.init.shared::cta.b64 [$0+98440], 11;
// CHECK: fence.mbarrier_init.release.cluster

// The producer: 24 registers, one warp. It loads the query tile, then keys of a block and values of the block before, and takes
// the next tile from the queue.
// CHECK: setmaxnreg.dec.sync.aligned.u32 24
// CHECK: scf.while
// CHECK: mbarrier.try_wait.parity{{.*}}[$0+98320]
// CHECK: mbarrier.arrive.expect_tx{{.*}}[$1+98304], 16384
// CHECK: cp.async.bulk.tensor.4d
// CHECK: scf.while
// CHECK: mbarrier.arrive.expect_tx{{.*}}[$1+98336], 16384
// CHECK: cp.async.bulk.tensor.4d
// CHECK: scf.if
// CHECK: mbarrier.arrive.expect_tx{{.*}}[$1+98368], 16384
// CHECK: cp.async.bulk.tensor.4d
// CHECK: mbarrier.try_wait.parity{{.*}}[$0+98432]
// CHECK: mbarrier.arrive.shared::cta{{.*}}[$1+98440]

// A storing warp: waits for the staged output, stores it, gives the query buffer back.
// CHECK: mbarrier.try_wait.parity{{.*}}[$0+98400]
// CHECK: cp.async.bulk.tensor.4d.global.shared::cta.bulk_group
// CHECK: cp.async.bulk.commit_group
// CHECK: cp.async.bulk.wait_group.read 0
// CHECK: mbarrier.arrive.shared::cta{{.*}}[$1+98320]

// The scheduling warp: where there is room in the queue it asks for the next tile's number, looks it up and publishes it.
// CHECK: scf.while
// CHECK: mbarrier.try_wait.parity{{.*}}[$0+98440]
// CHECK: atom.relaxed.gpu.global.add.u32
// CHECK: shfl.sync idx
// CHECK: st.shared.b32 [$0+98448]
// CHECK: mbarrier.arrive.shared::cta{{.*}}[$1+98432]
// CHECK: atom.acq_rel.gpu.global.add.u32

// The consumers: the first block of the first tile.
// CHECK: setmaxnreg.inc.sync.aligned.u32 240
// CHECK: bar.arrive $0, 256
// CHECK: mbarrier.try_wait.parity{{.*}}[$0+98304]
// CHECK: mbarrier.try_wait.parity{{.*}}[$0+98336]
// CHECK: bar.sync $0, 256
// CHECK: wgmma.fence
// CHECK-COUNT-4: wgmma.mma_async.sync.aligned.m64n128k16.f32.bf16.bf16
// CHECK: wgmma.commit_group
// CHECK: bar.arrive $0, 256
// CHECK: wgmma.wait_group.sync.aligned 0

// A step on a full block: scores of this block; in their shadow rescaling under a branch, and the next block is looked up;
// product of the block before; softmax without a mask; wait for the product, probabilities rounded.
// STEP: {{^ *}}^bb[[FULL:[0-9]+]]({{.*}}// 2 preds: ^bb{{[0-9]+}}, ^bb[[FULL]]
// STEP: mbarrier.try_wait.parity{{.*}}[$0+98336]
// STEP: bar.sync $0, 256
// STEP: wgmma.fence{{.*}}"~{memory}"  : () -> ()
// STEP-COUNT-4: da, db, p, 1, 1, 0, 0
// STEP: wgmma.commit_group
// STEP: scf.if
// STEP: scf.while
// STEP: vote.sync ballot
// STEP: vote.sync ballot
// STEP: mbarrier.try_wait.parity{{.*}}[$0+98368]
// STEP: wgmma.fence{{.*}}=f
// STEP-COUNT-8: db, p, 1, 1, 1
// STEP: wgmma.commit_group
// STEP: bar.arrive $0, 256
// STEP: wgmma.wait_group.sync.aligned 1;
// STEP: mbarrier.arrive.shared::cta{{.*}}[$1+98352]
// STEP-NOT: cf.
// STEP-NOT: arith.cmpi sge
// STEP: shfl.sync bfly
// STEP: vote.sync any
// STEP: scf.if
// STEP: scf.yield
// STEP-NOT: scf.if
// STEP: math.fma
// STEP: wgmma.wait_group.sync.aligned 0;
// STEP: mbarrier.arrive.shared::cta{{.*}}[$1+98384]
// STEP-COUNT-32: cvt.rn.bf16x2.f32
// STEP: cf.cond_br %{{.*}}, ^bb[[FULL]](

// The same step on a partial block has the mask: a word for each of the thread's two rows, found in the scores' shadow, a bit of
// which is tested for each element.
// STEP: wgmma.commit_group
// STEP-COUNT-2: sub.sat.s32
// STEP-COUNT-8: db, p, 1, 1, 1
// STEP: wgmma.wait_group.sync.aligned 1;
// STEP-COUNT-64: arith.cmpi ne
// STEP: wgmma.wait_group.sync.aligned 0;
// STEP: cf.br ^bb

// The border of two tiles: the next tile is read from the queue, its scores come before this tile's last product, the output
// is staged after the wait. Its sums and lse are finished in the scores' shadow.
// STEP: ld.shared.b32 $0, [$1+98464]
// STEP: wgmma.fence{{.*}}"~{memory}"  : () -> ()
// STEP-COUNT-4: da, db, p, 1, 1, 0, 0
// STEP: wgmma.commit_group
// STEP: st.global
// STEP-COUNT-8: db, p, 1, 1, 1
// STEP: wgmma.wait_group.sync.aligned 1;
// STEP: wgmma.wait_group.sync.aligned 0;
// STEP-COUNT-4: stmatrix.sync.aligned.m8n8.x4.shared.b16
// STEP: fence.proxy.async.shared::cta
// STEP: mbarrier.arrive.shared::cta{{.*}}[$1+98400]
// STEP: cf.br ^bb
attn.kernel @f(%q: tensor<?x4x?x64xbf16>, %k: tensor<?x2x?x64xbf16>, %v: tensor<?x2x?x64xbf16>) outs(%o: tensor<?x4x?x64xbf16>, %lse: tensor<?x4x?xf32>) attributes {arg_names = ["q", "k", "v", "o", "lse"], precision = #attn.precision<qk = bf16, pv = bf16, p = bf16, score = f32, stat = f32, acc = f32>, schedule = #attn.schedule<target = "sm_90a", tile_m = 128, tile_n = 128, warps = 12, stages = 2, consumers = 2, query_buffers = 2, producer_registers = 24, consumer_registers = 240, ping_pong = 1, persistent = 1, dynamic_order = 1>} {
  %c2_i32 = arith.constant 2 : i32
  %b, %h, %i0 = attn.tile_position
  %0 = arith.divui %h, %c2_i32 : i32
  %1 = attn.load_tile %q[%b, %h, %i0] : tensor<?x4x?x64xbf16> -> !attn.tile<128x64xbf16>
  %2 = attn.fill 0xFF800000 : !attn.tile<128xf32>
  %3 = attn.fill 0.000000e+00 : !attn.tile<128xf32>
  %4 = attn.fill 0.000000e+00 : !attn.tile<128x64xf32>
  %5:3 = attn.key_blocks (%j0) iter(%m = %2, %l = %3, %acc = %4) : !attn.tile<128xf32>, !attn.tile<128xf32>, !attn.tile<128x64xf32> {
    %6 = attn.load_tile %k[%b, %0, %j0] : tensor<?x2x?x64xbf16> -> !attn.tile<128x64xbf16>
    %7 = attn.dot %1, %6 : !attn.tile<128x64xbf16>, !attn.tile<128x64xbf16> -> !attn.tile<128x128xf32>
    %8 = attn.mask %7 at[%i0, %j0] (%i, %j) {
      %12 = arith.cmpi sge, %i, %j : i32
      attn.yield %12 : i1
    } : !attn.tile<128x128xf32>
    %new_max, %new_sum, %p, %alpha = attn.online_softmax %8, %m, %l exp2_scale(0.180336878) : !attn.tile<128x128xf32>, !attn.tile<128xf32>, !attn.tile<128xf32> -> !attn.tile<128xf32>, !attn.tile<128xf32>, !attn.tile<128x128xf32>, !attn.tile<128xf32>
    %9 = attn.cast %p : !attn.tile<128x128xf32> to !attn.tile<128x128xbf16>
    %10 = attn.load_tile %v[%b, %0, %j0] : tensor<?x2x?x64xbf16> -> !attn.tile<128x64xbf16>
    %11 = attn.accumulate %9, %10 into %acc scaled_by %alpha : !attn.tile<128x128xbf16>, !attn.tile<128x64xbf16>, !attn.tile<128x64xf32>, !attn.tile<128xf32> -> !attn.tile<128x64xf32>
    attn.yield %new_max, %new_sum, %11 : !attn.tile<128xf32>, !attn.tile<128xf32>, !attn.tile<128x64xf32>
  } classify (%ilo, %ihi, %jlo, %jhi) {
    %6 = arith.cmpi sle, %jlo, %ihi : i32
    %7 = arith.cmpi sle, %jhi, %ilo : i32
    attn.yield %6, %7 : i1, i1
  }
  %o_0, %lse_1 = attn.normalize %5#2 by %5#1 max %5#0 exp2_scale(0.180336878) : !attn.tile<128x64xf32>, !attn.tile<128xf32>, !attn.tile<128xf32> -> !attn.tile<128x64xf32>, !attn.tile<128xf32>
  attn.store_tile %o_0, %o[%b, %h, %i0] : !attn.tile<128x64xf32>, tensor<?x4x?x64xbf16>
  attn.store_tile %lse_1, %lse[%b, %h, %i0] : !attn.tile<128xf32>, tensor<?x4x?xf32>
}
