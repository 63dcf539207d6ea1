// The extrema of ranges of a buffer that is in no order. A tile's rows are the same for all lanes: one range. Each lane classifies a block of keys of its own:
// the warp reads two lanes' ranges at a time. redux.sync from sm_80 on; Turing has shuffles. The list reads before the loop and in it,
// six reductions each; what a warp sees of a block is asked without reading.
// RUN: qm-opt %s --qm-compile="target=sm_80" --qm-lower-to-sm80 | FileCheck %s --check-prefixes=CHECK,AMPERE
// RUN: qm-opt %s --qm-compile="target=sm_80" --qm-lower-to-sm80 | FileCheck %s --check-prefix=READS
// RUN: qm-opt %s --qm-compile="target=sm_75" --qm-lower-to-sm75 | FileCheck %s --check-prefixes=CHECK,TURING

// READS-LABEL: llvm.func @classes
// READS-COUNT-12: nvvm.redux.sync
// READS-NOT: nvvm.redux.sync
// CHECK-LABEL: llvm.func @classes
// CHECK: scf.while
// CHECK-COUNT-4: arith.extsi %{{.*}} : i8 to i32
// AMPERE: nvvm.redux.sync min
// AMPERE: nvvm.redux.sync max
// TURING-COUNT-10: nvvm.shfl.sync bfly
// CHECK: arith.constant -128 : i32
// CHECK-NEXT: arith.select %{{.*}}, %{{.*}}, %{{.*}} : i32
// CHECK: scf.for
// CHECK-COUNT-4: nvvm.shfl.sync idx
// CHECK: scf.while
// CHECK-COUNT-8: arith.extsi %{{.*}} : i8 to i32
// AMPERE-COUNT-4: nvvm.redux.sync
// TURING-COUNT-20: nvvm.shfl.sync bfly
// CHECK: nvvm.vote.sync ballot
func.func @classes(%q: tensor<?x2x?x64xf16>, %k: tensor<?x2x?x64xf16>, %v: tensor<?x2x?x64xf16>, %ids: tensor<?x?xi8>) -> tensor<?x2x?x64xf16> {
  %o = attn.attention q(%q) k(%k) v(%v)
    mask (%b, %h, %i, %j) {
      %x = attn.load %ids[%b, %i] : tensor<?x?xi8>
      %y = attn.load %ids[%b, %j] : tensor<?x?xi8>
      %c = arith.cmpi eq, %x, %y : i8
      attn.yield %c : i1
    } : tensor<?x2x?x64xf16>, tensor<?x2x?x64xf16>, tensor<?x2x?x64xf16> -> tensor<?x2x?x64xf16>
  return %o : tensor<?x2x?x64xf16>
}
