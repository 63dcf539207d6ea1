// A scheduled kernel becomes a function with the CPU entry: one vector of rows by two keys here, so that the text is short.
// RUN: qm-opt %s --qm-lower-to-cpu --canonicalize --cse | FileCheck %s

// CHECK-LABEL: llvm.func @f(
// CHECK-SAME: %[[SLOTS:.*]]: !llvm.ptr, %[[BEGIN:.*]]: i64, %[[END:.*]]: i64) attributes {{{.*}}prefer_vector_width = "256", target_cpu = "x86-64-v3"
// CHECK: %[[SCRATCH:.*]] = llvm.alloca {{.*}} {alignment = 64 : i64}

// One run over the range of tiles; a mask puts the last rows of a head first.
// CHECK: scf.for %[[TILE:.*]] = %[[BEGIN]] to %[[END]]
// CHECK: %[[HEADS:.*]] = arith.divsi %[[TILE]], %[[TILES:.*]] :
// CHECK: %[[PLACE:.*]] = arith.remsi %[[TILE]], %[[TILES]]
// CHECK: %[[LAST:.*]] = arith.subi %[[TILES]],
// CHECK: arith.subi %[[LAST]], %[[PLACE]]

// Key blocks of six; classify is asked for the tile, then for the strip.
// CHECK: scf.for %{{.*}} = %{{.*}} to %{{.*}} step %c6_i64
// CHECK: %[[ANY:.*]] = arith.cmpi sle
// CHECK: scf.if %[[ANY]] {
// CHECK: scf.for
// CHECK: %[[STRIPANY:.*]] = arith.cmpi sle
// CHECK: %[[STRIPALL:.*]] = arith.cmpi sle
// CHECK: scf.if %[[STRIPANY]] {
// Of a partial block the keys at both ends that no row keeps are left out, four at a time.
// CHECK: scf.if %[[STRIPALL]] -> (i64, i64) {
// CHECK: scf.for {{.*}} step %c4_i64 iter_args
// CHECK: %[[SOME:.*]] = arith.cmpi sle
// CHECK: arith.select %[[SOME]], {{.*}} : i64
// CHECK: arith.select %[[SOME]], {{.*}} : i64

// Scores: two keys at a time, K broadcast from where it lies, Q from scratch.
// CHECK: scf.for %{{.*}} = %{{.*}} to %{{.*}} step %c2_i64
// CHECK: %{{.*}}:2 = scf.for {{.*}} -> (vector<8xf32>, vector<8xf32>)
// CHECK: %[[Q:.*]] = llvm.load {{.*}} -> vector<8xf32>
// CHECK: %[[K0:.*]] = vector.broadcast {{.*}} : f32 to vector<8xf32>
// CHECK: math.fma %[[K0]], %[[Q]],
// CHECK: %[[K1:.*]] = vector.broadcast {{.*}} : f32 to vector<8xf32>
// CHECK: math.fma %[[K1]], %[[Q]],
// The last key of an odd block.
// CHECK: scf.for {{.*}} -> (vector<8xf32>)
// CHECK: math.fma

// A block that is kept whole: no mask. What depends on rows only is outside the loop over keys.
// CHECK: scf.if %[[STRIPALL]] -> (vector<8xf32>) {
// CHECK: %[[BIAS:.*]] = llvm.intr.masked.gather
// CHECK: scf.for
// CHECK: %[[S:.*]] = arith.addf %{{.*}}, %[[BIAS]]
// CHECK-NOT: arith.select
// CHECK: %[[LARGER:.*]] = arith.cmpf ogt, %[[S]],
// CHECK: } else {
// CHECK: llvm.intr.masked.gather
// CHECK: scf.for
// CHECK: %[[KEEP:.*]] = arith.cmpi sge, %{{.*}}, %{{.*}} : vector<8xi32>
// CHECK: arith.select %[[KEEP]], %{{.*}}, %{{.*}} : vector<8xi1>, vector<8xf32>

// Probabilities and their sum.
// CHECK: scf.for {{.*}} -> (vector<8xf32>)
// CHECK: math.fma
// CHECK: arith.shli

// Output columns: two, then the third.
// CHECK: %{{.*}}:2 = scf.for {{.*}} -> (vector<8xf32>, vector<8xf32>)
// CHECK: math.fma
// CHECK: scf.for {{.*}} -> (vector<8xf32>)
// CHECK: math.fma

// CHECK: math.log
// CHECK: arith.divf
// CHECK: llvm.return
// CHECK-NOT: attn.
attn.kernel @f(%q: tensor<?x4x?x3xf32>, %k: tensor<?x2x?x3xf32>, %v: tensor<?x2x?x3xf32>, %bias: tensor<?xf32>)
    outs(%o: tensor<?x4x?x3xf32>, %lse: tensor<?x4x?xf32>)
    attributes {arg_names = ["q", "k", "v", "bias", "o", "lse"],
                schedule = #attn.schedule<target = "x86-64-v3", tile_m = 16, tile_n = 6, warps = 1, stages = 1, micro_m = 8, micro_n = 2>} {
  %c2 = arith.constant 2 : i32
  %b, %h, %i0 = attn.tile_position
  %hk = arith.divui %h, %c2 : i32
  %qt = attn.load_tile %q[%b, %h, %i0] : tensor<?x4x?x3xf32> -> !attn.tile<16x3xf32>
  %m0 = attn.fill 0xFF800000 : !attn.tile<16xf32>
  %l0 = attn.fill 0.0 : !attn.tile<16xf32>
  %a0 = attn.fill 0.0 : !attn.tile<16x3xf32>
  %r:3 = attn.key_blocks (%j0) iter(%m = %m0, %l = %l0, %acc = %a0) : !attn.tile<16xf32>, !attn.tile<16xf32>, !attn.tile<16x3xf32> {
    %kt = attn.load_tile %k[%b, %hk, %j0] : tensor<?x2x?x3xf32> -> !attn.tile<6x3xf32>
    %s = attn.dot %qt, %kt : !attn.tile<16x3xf32>, !attn.tile<6x3xf32> -> !attn.tile<16x6xf32>
    %x = attn.map %s at[%i0, %j0] (%e, %i, %j) {
      %t = attn.load %bias[%i] : tensor<?xf32>
      %u = arith.addf %e, %t : f32
      attn.yield %u : f32
    } : !attn.tile<16x6xf32>
    %y = attn.mask %x at[%i0, %j0] (%i, %j) {
      %c = arith.cmpi sge, %i, %j : i32
      attn.yield %c : i1
    } : !attn.tile<16x6xf32>
    %m2, %l2, %p, %alpha = attn.online_softmax %y, %m, %l exp2_scale(1.44269502) : !attn.tile<16x6xf32>, !attn.tile<16xf32>, !attn.tile<16xf32>
      -> !attn.tile<16xf32>, !attn.tile<16xf32>, !attn.tile<16x6xf32>, !attn.tile<16xf32>
    %vt = attn.load_tile %v[%b, %hk, %j0] : tensor<?x2x?x3xf32> -> !attn.tile<6x3xf32>
    %a2 = attn.accumulate %p, %vt into %acc scaled_by %alpha : !attn.tile<16x6xf32>, !attn.tile<6x3xf32>, !attn.tile<16x3xf32>, !attn.tile<16xf32> -> !attn.tile<16x3xf32>
    attn.yield %m2, %l2, %a2 : !attn.tile<16xf32>, !attn.tile<16xf32>, !attn.tile<16x3xf32>
  } classify (%ilo, %ihi, %jlo, %jhi) {
    %any = arith.cmpi sle, %jlo, %ihi : i32
    %all = arith.cmpi sle, %jhi, %ilo : i32
    attn.yield %any, %all : i1, i1
  }
  %on, %ln = attn.normalize %r#2 by %r#1 max %r#0 exp2_scale(1.44269502) : !attn.tile<16x3xf32>, !attn.tile<16xf32>, !attn.tile<16xf32> -> !attn.tile<16x3xf32>, !attn.tile<16xf32>
  attn.store_tile %on, %o[%b, %h, %i0] : !attn.tile<16x3xf32>, tensor<?x4x?x3xf32>
  attn.store_tile %ln, %lse[%b, %h, %i0] : !attn.tile<16xf32>, tensor<?x4x?xf32>
}
