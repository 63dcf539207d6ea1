// Extrema by key block lie in shared memory that the pipeline leaves free: all warps fill the table before the roles part, one entry a lane, and who
// classifies a block reads its entry. Extrema of a tile's rows are read from the buffer.
// RUN: qm-opt %s --qm-compile="target=sm_90a" --qm-lower-to-sm90 | FileCheck %s
// RUN: qm-opt %s --qm-compile="target=sm_90a" --qm-lower-to-sm90 | FileCheck %s --check-prefix=SIZE

// 4096 entries, a header, and what the pipeline needs.
// SIZE: attn.shared_bytes = 229{{[0-9]+}} : i64

// CHECK-LABEL: llvm.func @classes
// The header: entries of a row, blocks of an entry.
// CHECK: math.ctlz
// CHECK: scf.if
// CHECK: scf.while
// CHECK: scf.for
// CHECK: nvvm.redux.sync min
// CHECK: nvvm.redux.sync max
// CHECK: nvvm.barrier
// CHECK: cf.cond_br
func.func @classes(%q: tensor<?x2x?x128xf16>, %k: tensor<?x2x?x128xf16>, %v: tensor<?x2x?x128xf16>, %ids: tensor<?x?xi32>) -> tensor<?x2x?x128xf16> {
  %o = attn.attention q(%q) k(%k) v(%v)
    mask (%b, %h, %i, %j) {
      %x = attn.load %ids[%b, %i] : tensor<?x?xi32>
      %y = attn.load %ids[%b, %j] : tensor<?x?xi32>
      %c = arith.cmpi eq, %x, %y : i32
      attn.yield %c : i1
    } : tensor<?x2x?x128xf16>, tensor<?x2x?x128xf16>, tensor<?x2x?x128xf16> -> tensor<?x2x?x128xf16>
  return %o : tensor<?x2x?x128xf16>
}
