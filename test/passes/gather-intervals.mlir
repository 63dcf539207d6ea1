// Gathers on ranges: the ends of a sorted buffer, neighbours of an index that moves in steps, the extrema of other buffers.
// RUN: qm-opt %s --qm-to-online --qm-tile-attention --qm-lift-mask --qm-bound-keys --canonicalize | FileCheck %s

// Documents by sorted ids: four elements say what a block is; the keys of the tile's documents are found by search.
// CHECK-LABEL: attn.kernel @documents
// CHECK: } classify (%[[ILO:.*]], %[[IHI:.*]], %[[JLO:.*]], %[[JHI:.*]]) {
// CHECK-DAG: %[[QLO:.*]] = attn.load %ids[%b, %[[ILO]]] sorted : tensor<?x?xi32>
// CHECK-DAG: %[[QHI:.*]] = attn.load %ids[%b, %[[IHI]]] sorted : tensor<?x?xi32>
// CHECK-DAG: %[[KLO:.*]] = attn.load %ids[%b, %[[JLO]]] sorted : tensor<?x?xi32>
// CHECK-DAG: %[[KHI:.*]] = attn.load %ids[%b, %[[JHI]]] sorted : tensor<?x?xi32>
// CHECK-DAG: arith.cmpi sle, %[[QLO]], %[[KHI]] : i32
// CHECK-DAG: arith.cmpi sle, %[[KLO]], %[[QHI]] : i32
// CHECK: } bounds (%[[ILO2:.*]], %[[IHI2:.*]]) {
// CHECK-DAG: %[[FIRST:.*]] = attn.load %ids[%b, %[[ILO2]]] sorted
// CHECK-DAG: %[[LAST:.*]] = attn.load %ids[%b, %[[IHI2]]] sorted
// CHECK-DAG: attn.search %ids[%b] for %[[FIRST]] : tensor<?x?xi32>
// CHECK-DAG: attn.search above %ids[%b] for %[[LAST]] : tensor<?x?xi32>
func.func @documents(%q: tensor<?x2x?x64xbf16>, %k: tensor<?x2x?x64xbf16>, %v: tensor<?x2x?x64xbf16>, %ids: tensor<?x?xi32> {attn.name = "ids"}) -> tensor<?x2x?x64xbf16> {
  %o = attn.attention q(%q) k(%k) v(%v)
    mask (%b, %h, %i, %j) {
      %x = attn.load %ids[%b, %i] sorted : tensor<?x?xi32>
      %y = attn.load %ids[%b, %j] sorted : tensor<?x?xi32>
      %c = arith.cmpi eq, %x, %y : i32
      attn.yield %c : i1
    } : tensor<?x2x?x64xbf16>, tensor<?x2x?x64xbf16>, tensor<?x2x?x64xbf16> -> tensor<?x2x?x64xbf16>
  return %o : tensor<?x2x?x64xbf16>
}

// The offset of the row's document: two sorted gathers, one in the other, solved without a search.
// CHECK-LABEL: attn.kernel @offsets
// CHECK: } bounds (%[[ILO:.*]], %[[IHI:.*]]) {
// CHECK: %[[ID:.*]] = attn.load %ids[%[[ILO]]] sorted : tensor<?xi32>
// CHECK: %[[BEGIN:.*]] = attn.load %begins[%[[ID]]] sorted : tensor<?xi32>
// CHECK-NOT: attn.search
// CHECK: attn.yield %[[BEGIN]], %[[IHI]] : i32, i32
func.func @offsets(%q: tensor<?x2x?x64xbf16>, %k: tensor<?x2x?x64xbf16>, %v: tensor<?x2x?x64xbf16>, %ids: tensor<?xi32> {attn.name = "ids"}, %begins: tensor<?xi32> {attn.name = "begins"}) -> tensor<?x2x?x64xbf16> {
  %o = attn.attention q(%q) k(%k) v(%v)
    mask (%b, %h, %i, %j) {
      %d = attn.load %ids[%i] sorted : tensor<?xi32>
      %begin = attn.load %begins[%d] sorted : tensor<?xi32>
      %after = arith.cmpi sle, %begin, %j : i32
      %past = arith.cmpi sle, %j, %i : i32
      %c = arith.andi %after, %past : i1
      attn.yield %c : i1
    } : tensor<?x2x?x64xbf16>, tensor<?x2x?x64xbf16>, tensor<?x2x?x64xbf16> -> tensor<?x2x?x64xbf16>
  return %o : tensor<?x2x?x64xbf16>
}

// A block list is not sorted, but a tile of queries reads one or two of its neighbours; of more, nothing is known.
// CHECK-LABEL: attn.kernel @block_list
// CHECK: } classify (%[[ILO:.*]], %[[IHI:.*]], %{{.*}}, %{{.*}}) {
// CHECK-DAG: %[[RLO:.*]] = arith.floordivsi %[[ILO]], %{{.*}} : i32
// CHECK-DAG: %[[RHI:.*]] = arith.floordivsi %[[IHI]], %{{.*}} : i32
// CHECK-DAG: %[[DISTANCE:.*]] = arith.subi %[[RHI]], %[[RLO]] : i32
// CHECK-DAG: %[[NEAR:.*]] = arith.cmpi ult, %[[DISTANCE]], %c2_i32 : i32
// CHECK-DAG: arith.select %[[NEAR]], %{{.*}}, %c-2147483648_i32 : i32
// CHECK-DAG: arith.select %[[NEAR]], %{{.*}}, %c2147483647_i32 : i32
func.func @block_list(%q: tensor<?x2x?x64xbf16>, %k: tensor<?x2x?x64xbf16>, %v: tensor<?x2x?x64xbf16>, %tiles: tensor<?xi32> {attn.name = "tiles"}) -> tensor<?x2x?x64xbf16> {
  %o = attn.attention q(%q) k(%k) v(%v)
    mask (%b, %h, %i, %j) {
      %size = arith.constant 64 : i32
      %row = arith.floordivsi %i, %size : i32
      %column = arith.floordivsi %j, %size : i32
      %tile = attn.load %tiles[%row] : tensor<?xi32>
      %c = arith.cmpi eq, %tile, %column : i32
      attn.yield %c : i1
    } : tensor<?x2x?x64xbf16>, tensor<?x2x?x64xbf16>, tensor<?x2x?x64xbf16> -> tensor<?x2x?x64xbf16>
  return %o : tensor<?x2x?x64xbf16>
}

// A gather by key from a buffer in no order: the kernel looks at the block's elements. The loop goes over all blocks.
// CHECK-LABEL: attn.kernel @unordered
// CHECK: } classify (%{{.*}}, %{{.*}}, %[[JLO:.*]], %[[JHI:.*]]) {
// CHECK: %[[LEAST:.*]], %[[GREATEST:.*]] = attn.extrema %flags[%[[JLO]]] to %[[JHI]] along 0 : tensor<?xi8>
// CHECK-DAG: arith.cmpi sle, %[[LEAST]], %c0_i32 : i32
// CHECK-DAG: arith.cmpi sge, %[[GREATEST]], %c0_i32 : i32
// CHECK-NOT: bounds
func.func @unordered(%q: tensor<?x2x?x64xbf16>, %k: tensor<?x2x?x64xbf16>, %v: tensor<?x2x?x64xbf16>, %flags: tensor<?xi8> {attn.name = "flags"}) -> tensor<?x2x?x64xbf16> {
  %o = attn.attention q(%q) k(%k) v(%v)
    mask (%b, %h, %i, %j) {
      %x = attn.load %flags[%j] : tensor<?xi8>
      %zero = arith.constant 0 : i8
      %c = arith.cmpi ne, %x, %zero : i8
      attn.yield %c : i1
    } : tensor<?x2x?x64xbf16>, tensor<?x2x?x64xbf16>, tensor<?x2x?x64xbf16> -> tensor<?x2x?x64xbf16>
  return %o : tensor<?x2x?x64xbf16>
}

// A last key for each row, in no order: the greatest of the tile's rows ends the loop. Elements of keys are not looked at there: the range would be
// the whole sequence.
// CHECK-LABEL: attn.kernel @last_keys
// CHECK: } bounds (%[[ILO:.*]], %[[IHI:.*]]) {
// CHECK: %{{.*}}, %[[END:.*]] = attn.extrema %last[%b, %[[ILO]], %{{.*}}] to %[[IHI]] along 1 : tensor<?x?x2xi16>
// CHECK-NOT: attn.extrema
// CHECK: attn.yield %{{.*}}, %[[END]] : i32, i32
func.func @last_keys(%q: tensor<?x2x?x64xbf16>, %k: tensor<?x2x?x64xbf16>, %v: tensor<?x2x?x64xbf16>, %last: tensor<?x?x2xi16> {attn.name = "last"}, %flags: tensor<?xi32>) -> tensor<?x2x?x64xbf16> {
  %o = attn.attention q(%q) k(%k) v(%v)
    mask (%b, %h, %i, %j) {
      %one = arith.constant 1 : i32
      %narrow = attn.load %last[%b, %i, %one] : tensor<?x?x2xi16>
      %end = arith.extsi %narrow : i16 to i32
      %inside = arith.cmpi sle, %j, %end : i32
      %flag = attn.load %flags[%j] : tensor<?xi32>
      %on = arith.cmpi sge, %flag, %one : i32
      %c = arith.andi %inside, %on : i1
      attn.yield %c : i1
    } : tensor<?x2x?x64xbf16>, tensor<?x2x?x64xbf16>, tensor<?x2x?x64xbf16> -> tensor<?x2x?x64xbf16>
  return %o : tensor<?x2x?x64xbf16>
}

// Two indices that are ranges: nothing is known, every block is partial.
// CHECK-LABEL: attn.kernel @dense
// CHECK: } classify
// CHECK-NEXT: %[[TRUE:.*]] = arith.constant true
// CHECK-NEXT: %[[FALSE:.*]] = arith.constant false
// CHECK-NEXT: attn.yield %[[TRUE]], %[[FALSE]] : i1, i1
func.func @dense(%q: tensor<?x2x?x64xbf16>, %k: tensor<?x2x?x64xbf16>, %v: tensor<?x2x?x64xbf16>, %table: tensor<?x?xi32> {attn.name = "table"}) -> tensor<?x2x?x64xbf16> {
  %o = attn.attention q(%q) k(%k) v(%v)
    mask (%b, %h, %i, %j) {
      %x = attn.load %table[%i, %j] : tensor<?x?xi32>
      %zero = arith.constant 0 : i32
      %c = arith.cmpi ne, %x, %zero : i32
      attn.yield %c : i1
    } : tensor<?x2x?x64xbf16>, tensor<?x2x?x64xbf16>, tensor<?x2x?x64xbf16> -> tensor<?x2x?x64xbf16>
  return %o : tensor<?x2x?x64xbf16>
}
