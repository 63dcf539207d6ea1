// Every operation of the dialect prints as it parses, at every level.
// RUN: qm-opt %s | qm-opt | FileCheck %s
// RUN: qm-opt %s --mlir-print-op-generic | qm-opt | FileCheck %s

// CHECK-LABEL: func.func @spec
func.func @spec(%q: tensor<?x32x?x128xbf16>, %k: tensor<?x8x?x128xbf16>, %v: tensor<?x8x?x96xbf16>,
                %bias: tensor<32x?xf32>, %window: i32)
    -> (tensor<?x32x?x96xbf16>, tensor<?x32x?xf32>) {
  // CHECK: attn.attention q(%{{.*}}) k(%{{.*}}) v(%{{.*}}) scale(1.250000e-01)
  // CHECK-NEXT: score (%[[S:.*]], %{{.*}}, %[[H:.*]], %{{.*}}, %[[J:.*]]) {
  // CHECK-NEXT:   attn.load %{{.*}}[%[[H]], %[[J]]] : tensor<32x?xf32>
  // CHECK: mask (%{{.*}}, %{{.*}}, %[[I:.*]], %{{.*}}) {
  // CHECK-NEXT:   attn.extent key : i32
  // CHECK: -> tensor<?x32x?x96xbf16>, tensor<?x32x?xf32>
  %o, %lse = attn.attention q(%q) k(%k) v(%v) scale(0.125)
    score (%s, %b, %h, %i, %j) {
      %x = attn.load %bias[%h, %j] : tensor<32x?xf32>
      %t = arith.addf %s, %x : f32
      attn.yield %t : f32
    }
    mask (%b, %h, %i, %j) {
      %n = attn.extent key : i32
      %d = arith.subi %n, %i : i32
      %c = arith.cmpi sle, %d, %window : i32
      attn.yield %c : i1
    } : tensor<?x32x?x128xbf16>, tensor<?x8x?x128xbf16>, tensor<?x8x?x96xbf16>
      -> tensor<?x32x?x96xbf16>, tensor<?x32x?xf32>
  return %o, %lse : tensor<?x32x?x96xbf16>, tensor<?x32x?xf32>
}

// CHECK-LABEL: func.func @online
func.func @online(%q: tensor<?x2x?x64xf16>, %k: tensor<?x1x?x64xf16>, %v: tensor<?x1x?x64xf16>) -> tensor<?x2x?x64xf16> {
  // CHECK: attn.online q(%{{.*}}) k(%{{.*}}) v(%{{.*}}) scale(1.250000e-01) :
  %acc, %max, %sum = attn.online q(%q) k(%k) v(%v) scale(0.125)
    : tensor<?x2x?x64xf16>, tensor<?x1x?x64xf16>, tensor<?x1x?x64xf16>
      -> tensor<?x2x?x64xf32>, tensor<?x2x?xf32>, tensor<?x2x?xf32>
  // CHECK: attn.normalize_rows %{{.*}} max %{{.*}} sum %{{.*}} :
  %o = attn.normalize_rows %acc max %max sum %sum
    : tensor<?x2x?x64xf32>, tensor<?x2x?xf32>, tensor<?x2x?xf32> -> tensor<?x2x?x64xf16>
  return %o : tensor<?x2x?x64xf16>
}

// CHECK-LABEL: attn.kernel @tiled
// CHECK-SAME: outs(%{{.*}}: tensor<?x2x?x64xf16>)
// CHECK-SAME: precision = #attn.precision<qk = f16, pv = f16, p = f16, score = f32, stat = f32, acc = f32>
// CHECK-SAME: schedule = #attn.schedule<target = "sm_80", tile_m = 64, tile_n = 32, warps = 4, stages = 2>
attn.kernel @tiled(%q: tensor<?x2x?x64xf16>, %k: tensor<?x2x?x64xf16>, %v: tensor<?x2x?x64xf16>) outs(%o: tensor<?x2x?x64xf16>)
    attributes {arg_names = ["q", "k", "v", "o"],
                precision = #attn.precision<qk = f16, pv = f16, p = f16, score = f32, stat = f32, acc = f32>,
                schedule = #attn.schedule<target = "sm_80", tile_m = 64, tile_n = 32, warps = 4, stages = 2>} {
  // CHECK: attn.tile_position
  %b, %h, %i0 = attn.tile_position
  // CHECK: attn.load_tile %{{.*}}[%{{.*}}, %{{.*}}, %{{.*}}] : tensor<?x2x?x64xf16> -> !attn.tile<64x64xf16>
  %qt = attn.load_tile %q[%b, %h, %i0] : tensor<?x2x?x64xf16> -> !attn.tile<64x64xf16>
  // CHECK: attn.fill 0xFF800000 : !attn.tile<64xf32>
  %m0 = attn.fill 0xFF800000 : !attn.tile<64xf32>
  %l0 = attn.fill 0.0 : !attn.tile<64xf32>
  %a0 = attn.fill 0.0 : !attn.tile<64x64xf32>
  // CHECK: attn.key_blocks (%[[J0:.*]]) iter(%{{.*}} = %{{.*}}, %{{.*}} = %{{.*}}, %{{.*}} = %{{.*}}) : !attn.tile<64xf32>, !attn.tile<64xf32>, !attn.tile<64x64xf32> {
  %r:3 = attn.key_blocks (%j0) iter(%m = %m0, %l = %l0, %acc = %a0) : !attn.tile<64xf32>, !attn.tile<64xf32>, !attn.tile<64x64xf32> {
    %kt = attn.load_tile %k[%b, %h, %j0] : tensor<?x2x?x64xf16> -> !attn.tile<32x64xf16>
    // CHECK: attn.dot %{{.*}}, %{{.*}} : !attn.tile<64x64xf16>, !attn.tile<32x64xf16> -> !attn.tile<64x32xf32>
    %s = attn.dot %qt, %kt : !attn.tile<64x64xf16>, !attn.tile<32x64xf16> -> !attn.tile<64x32xf32>
    // CHECK: attn.map %{{.*}} at[%{{.*}}, %[[J0]]] (%{{.*}}, %{{.*}}, %{{.*}}) {
    %x = attn.map %s at [%i0, %j0] (%e, %i, %j) {
      %t = math.tanh %e : f32
      attn.yield %t : f32
    } : !attn.tile<64x32xf32>
    // CHECK: attn.mask %{{.*}} at[%{{.*}}, %[[J0]]] (%{{.*}}, %{{.*}}) {
    %y = attn.mask %x at [%i0, %j0] (%i, %j) {
      %c = arith.cmpi sge, %i, %j : i32
      attn.yield %c : i1
    } : !attn.tile<64x32xf32>
    // CHECK: attn.online_softmax %{{.*}}, %{{.*}}, %{{.*}} exp2_scale(1.800000e-01) bound(3.000000e+01) :
    %m2, %l2, %p, %alpha = attn.online_softmax %y, %m, %l exp2_scale(0.18) bound(30.0) : !attn.tile<64x32xf32>, !attn.tile<64xf32>, !attn.tile<64xf32>
      -> !attn.tile<64xf32>, !attn.tile<64xf32>, !attn.tile<64x32xf32>, !attn.tile<64xf32>
    // CHECK: attn.cast %{{.*}} : !attn.tile<64x32xf32> to !attn.tile<64x32xf16>
    %ph = attn.cast %p : !attn.tile<64x32xf32> to !attn.tile<64x32xf16>
    %vt = attn.load_tile %v[%b, %h, %j0] : tensor<?x2x?x64xf16> -> !attn.tile<32x64xf16>
    // CHECK: attn.accumulate %{{.*}}, %{{.*}} into %{{.*}} scaled_by %{{.*}} :
    %a2 = attn.accumulate %ph, %vt into %acc scaled_by %alpha : !attn.tile<64x32xf16>, !attn.tile<32x64xf16>, !attn.tile<64x64xf32>, !attn.tile<64xf32> -> !attn.tile<64x64xf32>
    attn.yield %m2, %l2, %a2 : !attn.tile<64xf32>, !attn.tile<64xf32>, !attn.tile<64x64xf32>
  } classify (%ilo, %ihi, %jlo, %jhi) {
    // CHECK: } classify (%[[ILO:.*]], %[[IHI:.*]], %[[JLO:.*]], %[[JHI:.*]]) {
    // CHECK-NEXT: arith.cmpi sge, %[[IHI]], %[[JLO]] : i32
    %any = arith.cmpi sge, %ihi, %jlo : i32
    %all = arith.cmpi sge, %ilo, %jhi : i32
    attn.yield %any, %all : i1, i1
  }
  // CHECK: attn.normalize %{{.*}} by %{{.*}} max %{{.*}} exp2_scale(1.800000e-01) :
  %on, %ln = attn.normalize %r#2 by %r#1 max %r#0 exp2_scale(0.18) : !attn.tile<64x64xf32>, !attn.tile<64xf32>, !attn.tile<64xf32> -> !attn.tile<64x64xf32>, !attn.tile<64xf32>
  // CHECK: attn.store_tile %{{.*}}, %{{.*}}[%{{.*}}, %{{.*}}, %{{.*}}] : !attn.tile<64x64xf32>, tensor<?x2x?x64xf16>
  attn.store_tile %on, %o[%b, %h, %i0] : !attn.tile<64x64xf32>, tensor<?x2x?x64xf16>
}

// CHECK-LABEL: func.func @packed
// CHECK-SAME: %[[CUQ:[a-z0-9]+]]: tensor<?xi32>, %[[CUKV:[a-z0-9]+]]: tensor<?xi32>
func.func @packed(%q: tensor<1x2x?x64xf16>, %k: tensor<1x2x?x64xf16>, %v: tensor<1x2x?x64xf16>, %cu_q: tensor<?xi32>, %cu_kv: tensor<?xi32>) -> tensor<1x2x?x64xf16> {
  // CHECK: attn.attention q(%{{.*}}) k(%{{.*}}) v(%{{.*}}) packed(%[[CUQ]], %[[CUKV]]) scale(1.000000e+00)
  %o = attn.attention q(%q) k(%k) v(%v) packed(%cu_q, %cu_kv) scale(1.0) : tensor<1x2x?x64xf16>, tensor<1x2x?x64xf16>, tensor<1x2x?x64xf16> -> tensor<1x2x?x64xf16>
  return %o : tensor<1x2x?x64xf16>
}

// CHECK-LABEL: func.func @padded
// CHECK-SAME: %[[LEN:[a-z0-9]+]]: tensor<?xi32>)
func.func @padded(%q: tensor<?x2x?x64xf16>, %k: tensor<?x2x?x64xf16>, %v: tensor<?x2x?x64xf16>, %len: tensor<?xi32>) {
  // CHECK: attn.online q(%{{.*}}) k(%{{.*}}) v(%{{.*}}) padded(%[[LEN]], %[[LEN]]) scale(1.000000e+00)
  %a, %m, %l = attn.online q(%q) k(%k) v(%v) padded(%len, %len) scale(1.0) : tensor<?x2x?x64xf16>, tensor<?x2x?x64xf16>, tensor<?x2x?x64xf16> -> tensor<?x2x?x64xf32>, tensor<?x2x?xf32>, tensor<?x2x?xf32>
  return
}

// A sink, the row maximum, a sorted buffer, a search in it and its extrema.
// CHECK-LABEL: func.func @sink
func.func @sink(%q: tensor<?x2x?x64xf16>, %k: tensor<?x1x?x64xf16>, %v: tensor<?x1x?x64xf16>, %sinks: tensor<2xf32>, %ids: tensor<?xi32>)
    -> (tensor<?x2x?x64xf16>, tensor<?x2x?xf32>, tensor<?x2x?xf32>) {
  // CHECK: attn.attention q(%{{.*}}) k(%{{.*}}) v(%{{.*}}) row_max
  // CHECK: attn.load %{{.*}}[%{{.*}}] sorted : tensor<?xi32>
  // CHECK: sink (%{{.*}}, %[[H:.*]]) {
  // CHECK-NEXT: attn.load %{{.*}}[%[[H]]] : tensor<2xf32>
  %o:3 = attn.attention q(%q) k(%k) v(%v) row_max
    mask (%b, %h, %i, %j) {
      %d = attn.load %ids[%i] sorted : tensor<?xi32>
      %c = arith.cmpi sge, %d, %j : i32
      attn.yield %c : i1
    }
    sink (%b, %h) {
      %s = attn.load %sinks[%h] : tensor<2xf32>
      attn.yield %s : f32
    } : tensor<?x2x?x64xf16>, tensor<?x1x?x64xf16>, tensor<?x1x?x64xf16> -> tensor<?x2x?x64xf16>, tensor<?x2x?xf32>, tensor<?x2x?xf32>
  return %o#0, %o#1, %o#2 : tensor<?x2x?x64xf16>, tensor<?x2x?xf32>, tensor<?x2x?xf32>
}

// CHECK-LABEL: func.func @online_sink
func.func @online_sink(%q: tensor<?x2x?x64xf16>, %k: tensor<?x1x?x64xf16>, %v: tensor<?x1x?x64xf16>) -> (tensor<?x2x?x64xf16>, tensor<?x2x?xf32>) {
  %acc, %max, %sum = attn.online q(%q) k(%k) v(%v) scale(0.125)
    : tensor<?x2x?x64xf16>, tensor<?x1x?x64xf16>, tensor<?x1x?x64xf16>
      -> tensor<?x2x?x64xf32>, tensor<?x2x?xf32>, tensor<?x2x?xf32>
  // CHECK: attn.normalize_rows %{{.*}} max %{{.*}} sum %{{.*}} row_max
  // CHECK: sink (%{{.*}}, %{{.*}}) {
  %o, %m = attn.normalize_rows %acc max %max sum %sum row_max
    sink (%b, %h) {
      %one = arith.constant 1.0 : f32
      attn.yield %one : f32
    } : tensor<?x2x?x64xf32>, tensor<?x2x?xf32>, tensor<?x2x?xf32> -> tensor<?x2x?x64xf16>, tensor<?x2x?xf32>
  return %o, %m : tensor<?x2x?x64xf16>, tensor<?x2x?xf32>
}

// CHECK-LABEL: attn.kernel @statistics
// CHECK-SAME: row_max
attn.kernel @statistics(%q: tensor<?x1x?x64xf16>, %k: tensor<?x1x?x64xf16>, %v: tensor<?x1x?x64xf16>, %ids: tensor<?xi32>) outs(%o: tensor<?x1x?x64xf16>, %row_max: tensor<?x1x?xf32>)
    attributes {arg_names = ["q", "k", "v", "ids", "o", "row_max"], row_max} {
  %b, %h, %i0 = attn.tile_position
  %m0 = attn.fill 0xFF800000 : !attn.tile<64xf32>
  %l0 = attn.fill 0.0 : !attn.tile<64xf32>
  %a0 = attn.fill 0.0 : !attn.tile<64x64xf32>
  %r:3 = attn.key_blocks (%j0) iter(%m = %m0, %l = %l0, %acc = %a0) : !attn.tile<64xf32>, !attn.tile<64xf32>, !attn.tile<64x64xf32> {
    attn.yield %m, %l, %acc : !attn.tile<64xf32>, !attn.tile<64xf32>, !attn.tile<64x64xf32>
  } classify (%rlo, %rhi, %jlo, %jhi) {
    // CHECK: %{{.*}}, %{{.*}} = attn.extrema %ids[%{{.*}}] to %{{.*}} along 0 : tensor<?xi32>
    %least, %greatest = attn.extrema %ids[%jlo] to %jhi along 0 : tensor<?xi32>
    %any = arith.cmpi sle, %least, %rhi : i32
    %all = arith.cmpi sle, %greatest, %rlo : i32
    attn.yield %any, %all : i1, i1
  } bounds (%ilo, %ihi) {
    // CHECK: attn.search %ids[] for %{{.*}} : tensor<?xi32>
    %first = attn.search %ids[] for %ilo : tensor<?xi32>
    // CHECK: attn.search above %ids[] for %{{.*}} : tensor<?xi32>
    %end = attn.search above %ids[] for %ihi : tensor<?xi32>
    attn.yield %first, %end : i32, i32
  }
  // CHECK: attn.normalize %{{.*}} by %{{.*}} max %{{.*}} exp2_scale(1.000000e+00) sink () {
  %on, %ln, %mn = attn.normalize %r#2 by %r#1 max %r#0 exp2_scale(1.0) sink () {
    %one = arith.constant 1.0 : f32
    attn.yield %one : f32
  } : !attn.tile<64x64xf32>, !attn.tile<64xf32>, !attn.tile<64xf32> -> !attn.tile<64x64xf32>, !attn.tile<64xf32>, !attn.tile<64xf32>
  attn.store_tile %on, %o[%b, %h, %i0] : !attn.tile<64x64xf32>, tensor<?x1x?x64xf16>
  attn.store_tile %mn, %row_max[%b, %h, %i0] : !attn.tile<64xf32>, tensor<?x1x?xf32>
}
