// The loop over key blocks under a mask: 32 blocks are classified at a time, full blocks skip the mask, keys past the end
// get no weight, and what the mask's row alone decides is emitted once a row.
// RUN: qm-opt %s --qm-lower-to-sm80 | FileCheck %s
// One loop for full and masked blocks: the code of a block, 16 mma, is there once, not twice.
// RUN: sed 's/stages = 3>/stages = 3, one_loop = 1>/' %s | qm-opt --qm-lower-to-sm80 | FileCheck %s --check-prefix=ONE
// RUN: qm-opt %s --qm-lower-to-sm80 | FileCheck %s --check-prefix=TWO
// ONE-COUNT-16: mma.sync
// ONE-NOT: mma.sync
// TWO-COUNT-32: mma.sync
// TWO-NOT: mma.sync
// Kernels for other targets are left alone.
// RUN: sed s/sm_80/x86-64-v3/ %s | qm-opt --qm-lower-to-sm80 | FileCheck %s --check-prefix=OTHER
// OTHER: attn.kernel @document

attn.kernel @document(%q: tensor<?x2x?x64xf16>, %k: tensor<?x1x?x64xf16>, %v: tensor<?x1x?x64xf16>, %doc: tensor<?xi32>, %width: i32)
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
    %x = attn.mask %s at [%i0, %j0] (%i, %j) {
      %di = attn.load %doc[%i] : tensor<?xi32>
      %dj = attn.load %doc[%j] : tensor<?xi32>
      %same = arith.cmpi eq, %di, %dj : i32
      attn.yield %same : i1
    } : !attn.tile<16x16xf32>
    %m2, %l2, %p, %alpha = attn.online_softmax %x, %m, %l exp2_scale(0.18) : !attn.tile<16x16xf32>, !attn.tile<16xf32>, !attn.tile<16xf32> -> !attn.tile<16xf32>, !attn.tile<16xf32>, !attn.tile<16x16xf32>, !attn.tile<16xf32>
    %pb = attn.cast %p : !attn.tile<16x16xf32> to !attn.tile<16x16xf16>
    %vt = attn.load_tile %v[%b, %hk, %j0] : tensor<?x1x?x64xf16> -> !attn.tile<16x64xf16>
    %a2 = attn.accumulate %pb, %vt into %acc scaled_by %alpha : !attn.tile<16x16xf16>, !attn.tile<16x64xf16>, !attn.tile<16x64xf32>, !attn.tile<16xf32> -> !attn.tile<16x64xf32>
    attn.yield %m2, %l2, %a2 : !attn.tile<16xf32>, !attn.tile<16xf32>, !attn.tile<16x64xf32>
  } classify (%ilo, %ihi, %jlo, %jhi) {
    %far = arith.addi %ihi, %width : i32
    %any = arith.cmpi sle, %jlo, %far : i32
    %all = arith.constant false
    attn.yield %any, %all : i1, i1
  }
  %on, %ln = attn.normalize %r#2 by %r#1 max %r#0 exp2_scale(0.18) : !attn.tile<16x64xf32>, !attn.tile<16xf32>, !attn.tile<16xf32> -> !attn.tile<16x64xf32>, !attn.tile<16xf32>
  attn.store_tile %on, %o[%b, %h, %i0] : !attn.tile<16x64xf32>, tensor<?x2x?x64xf16>
}

// CHECK-LABEL: llvm.func @document
// CHECK-SAME:  attn.shared_bytes = 8192 : i64

// Before the loop: the first chunk of 32 blocks, one a lane.
// CHECK:       %[[LIST:.*]]:3 = scf.while
// CHECK:         nvvm.vote.sync ballot
// CHECK:         nvvm.vote.sync ballot
// CHECK:       math.cttz %[[LIST]]#1

// The loop carries first key, full, work list, ring slot, two statistics of two rows each, 32 accumulators.
// CHECK:       scf.while (%[[KEY:.*]] = %{{.*}}, %{{.*}} = %{{.*}}) : (i32, i1, i32, i32, i32, f32,
// CHECK:         arith.cmpi slt, %{{.*}}, %{{.*}} : i32
// CHECK:         scf.condition
// The next block is looked for first.
// CHECK:         scf.while
// CHECK:         math.cttz
// CHECK:         nvvm.cp.async.wait.group 1
// CHECK:         nvvm.barrier

// Masked blocks: 2 rows and 4 columns of a thread are gathered once each, for 8 elements.
// CHECK:         scf.if
// CHECK-COUNT-6:   llvm.load %{{.*}} invariant : !llvm.ptr<1> -> i32
// CHECK-NOT:       llvm.load %{{.*}} invariant : !llvm.ptr<1> -> i32
// CHECK:           scf.yield
// CHECK:         nvvm.vote.sync any
// CHECK:         scf.if
// CHECK:           nvvm.shfl.sync bfly
