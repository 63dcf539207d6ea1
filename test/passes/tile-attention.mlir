// RUN: qm-opt %s --qm-to-online --qm-tile-attention | FileCheck %s

// Captures keep their names, the group of heads is arithmetic, scale and score are maps, the mask stands apart.
// CHECK-LABEL: attn.kernel @grouped(%q: tensor<?x32x?x128xbf16>, %k: tensor<?x8x?x128xbf16>, %v: tensor<?x8x?x128xbf16>, %slopes: tensor<32xf32>, %window: i32)
// CHECK-SAME: outs(%o: tensor<?x32x?x128xbf16>, %lse: tensor<?x32x?xf32>)
// CHECK-SAME: arg_names = ["q", "k", "v", "slopes", "window", "o", "lse"]
// CHECK: %[[B:.*]], %[[H:.*]], %[[I0:.*]] = attn.tile_position
// CHECK: %[[GROUP:.*]] = arith.constant 4 : i32
// CHECK: %[[HK:.*]] = arith.divui %[[H]], %[[GROUP]] : i32
// CHECK: attn.load_tile %q[%[[B]], %[[H]], %[[I0]]] : tensor<?x32x?x128xbf16> -> !attn.tile<?x128xbf16>
// CHECK: attn.fill 0xFF800000 : !attn.tile<?xf32>
// CHECK: %[[R:.*]]:3 = attn.key_blocks (%[[J0:.*]]) iter(
// CHECK: attn.load_tile %k[%[[B]], %[[HK]], %[[J0]]]
// CHECK: %[[S:.*]] = attn.dot {{.*}} -> !attn.tile<?x?xf32>
// CHECK: %[[SCALED:.*]] = attn.map %[[S]] at[%[[I0]], %[[J0]]]
// CHECK: arith.mulf
// CHECK: %[[T:.*]] = attn.map %[[SCALED]] at[%[[I0]], %[[J0]]] (%{{.*}}, %[[I:.*]], %[[J:.*]]) {
// CHECK:   attn.load %slopes[%[[H]]]
// CHECK:   arith.subi %[[J]], %[[I]]
// CHECK: %[[M:.*]] = attn.mask %[[T]] at[%[[I0]], %[[J0]]]
// CHECK:   arith.cmpi sle, %{{.*}}, %window : i32
// CHECK: attn.online_softmax %[[M]], %{{.*}}, %{{.*}} :
// CHECK: attn.load_tile %v[%[[B]], %[[HK]], %[[J0]]]
// CHECK: attn.accumulate
// CHECK: %[[O:.*]], %[[L:.*]] = attn.normalize %[[R]]#2 by %[[R]]#1 max %[[R]]#0
// CHECK: attn.store_tile %[[O]], %o[%[[B]], %[[H]], %[[I0]]]
// CHECK: attn.store_tile %[[L]], %lse[%[[B]], %[[H]], %[[I0]]]
func.func @grouped(%q: tensor<?x32x?x128xbf16>, %k: tensor<?x8x?x128xbf16>, %v: tensor<?x8x?x128xbf16>,
                   %slopes: tensor<32xf32> {attn.name = "slopes"}, %window: i32 {attn.name = "window"})
    -> (tensor<?x32x?x128xbf16>, tensor<?x32x?xf32>) {
  %o, %lse = attn.attention q(%q) k(%k) v(%v)
    score (%s, %b, %h, %i, %j) {
      %m = attn.load %slopes[%h] : tensor<32xf32>
      %d = arith.subi %j, %i : i32
      %f = arith.sitofp %d : i32 to f32
      %p = arith.mulf %m, %f : f32
      %t = arith.addf %s, %p : f32
      attn.yield %t : f32
    }
    mask (%b, %h, %i, %j) {
      %d = arith.subi %i, %j : i32
      %c = arith.cmpi sle, %d, %window : i32
      attn.yield %c : i1
    } : tensor<?x32x?x128xbf16>, tensor<?x8x?x128xbf16>, tensor<?x8x?x128xbf16> -> tensor<?x32x?x128xbf16>, tensor<?x32x?xf32>
  return %o, %lse : tensor<?x32x?x128xbf16>, tensor<?x32x?xf32>
}

// Equal head counts need no division, no lse no store.
// CHECK-LABEL: attn.kernel @plain
// CHECK-NOT: arith.divui
// CHECK-NOT: attn.mask
// CHECK: attn.store_tile
// CHECK-NOT: attn.store_tile
func.func @plain(%q: tensor<?x8x?x64xf32>, %k: tensor<?x8x?x64xf32>, %v: tensor<?x8x?x64xf32>) -> tensor<?x8x?x64xf32> {
  %o = attn.attention q(%q) k(%k) v(%v) : tensor<?x8x?x64xf32>, tensor<?x8x?x64xf32>, tensor<?x8x?x64xf32> -> tensor<?x8x?x64xf32>
  return %o : tensor<?x8x?x64xf32>
}

// Lengths of sequences belong to the position; the rest of the program is about one sequence.
// CHECK-LABEL: attn.kernel @padded(
// CHECK-SAME: arg_names = ["q", "k", "v", "len_q", "len_kv", "o"]
// CHECK: %[[B:.*]], %[[H:.*]], %[[I0:.*]] = attn.tile_position padded(%len_q, %len_kv)
// CHECK: attn.load_tile %q[%[[B]], %[[H]], %[[I0]]]
func.func @padded(%q: tensor<?x8x?x64xbf16>, %k: tensor<?x8x?x64xbf16>, %v: tensor<?x8x?x64xbf16>, %lq: tensor<?xi32> {attn.name = "len_q"}, %lkv: tensor<?xi32> {attn.name = "len_kv"}) -> tensor<?x8x?x64xbf16> {
  %o = attn.attention q(%q) k(%k) v(%v) padded(%lq, %lkv) : tensor<?x8x?x64xbf16>, tensor<?x8x?x64xbf16>, tensor<?x8x?x64xbf16> -> tensor<?x8x?x64xbf16>
  return %o : tensor<?x8x?x64xbf16>
}

// A sink reads its buffer at the tile's head; the row maximum is stored beside lse.
// CHECK-LABEL: attn.kernel @sink(
// CHECK-SAME: outs(%o: tensor<?x8x?x64xf32>, %lse: tensor<?x8x?xf32>, %row_max: tensor<?x8x?xf32>)
// CHECK-SAME: arg_names = ["q", "k", "v", "sinks", "o", "lse", "row_max"], row_max
// CHECK: %[[B:.*]], %[[H:.*]], %[[I0:.*]] = attn.tile_position
// CHECK: %[[O:.*]], %[[L:.*]], %[[M:.*]] = attn.normalize %{{.*}} by %{{.*}} max %{{.*}} sink () {
// CHECK-NEXT: %[[S:.*]] = attn.load %sinks[%[[H]]] : tensor<8xf32>
// CHECK-NEXT: attn.yield %[[S]] : f32
// CHECK: attn.store_tile %[[O]], %o[
// CHECK: attn.store_tile %[[L]], %lse[
// CHECK: attn.store_tile %[[M]], %row_max[
func.func @sink(%q: tensor<?x8x?x64xf32>, %k: tensor<?x8x?x64xf32>, %v: tensor<?x8x?x64xf32>, %sinks: tensor<8xf32> {attn.name = "sinks"}) -> (tensor<?x8x?x64xf32>, tensor<?x8x?xf32>, tensor<?x8x?xf32>) {
  %o, %lse, %m = attn.attention q(%q) k(%k) v(%v) row_max
    sink (%b, %h) {
      %s = attn.load %sinks[%h] : tensor<8xf32>
      attn.yield %s : f32
    } : tensor<?x8x?x64xf32>, tensor<?x8x?x64xf32>, tensor<?x8x?x64xf32> -> tensor<?x8x?x64xf32>, tensor<?x8x?xf32>, tensor<?x8x?xf32>
  return %o, %lse, %m : tensor<?x8x?x64xf32>, tensor<?x8x?xf32>, tensor<?x8x?xf32>
}

// What a buffer's extents follow is a property of the kernel: the runtime compares them with the call's.
// CHECK-LABEL: attn.kernel @follows
// CHECK-SAME: attn.follows = {bias = ["batch", ""]}
func.func @follows(%q: tensor<?x2x?x64xf16>, %k: tensor<?x2x?x64xf16>, %v: tensor<?x2x?x64xf16>, %bias: tensor<?x2xf32> {attn.name = "bias", attn.follows = ["batch", ""]}) -> tensor<?x2x?x64xf16> {
  %o = attn.attention q(%q) k(%k) v(%v)
    score (%s, %b, %h, %i, %j) {
      %x = attn.load %bias[%b, %h] : tensor<?x2xf32>
      %t = arith.addf %s, %x : f32
      attn.yield %t : f32
    } : tensor<?x2x?x64xf16>, tensor<?x2x?x64xf16>, tensor<?x2x?x64xf16> -> tensor<?x2x?x64xf16>
  return %o : tensor<?x2x?x64xf16>
}
