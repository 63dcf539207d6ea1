// RUN: qm-opt %s --qm-compile="target=sm_90a" --qm-lower-to-sm90 | FileCheck %s

// Keys end at a captured length, behind which memory may hold NaN. The producer finds out where and tells the consumers; blocks
// are visited from the last down.
// CHECK: llvm.func @padding
// CHECK: setmaxnreg.dec.sync.aligned.u32 24
// CHECK: math.ctlz
// CHECK-COUNT-13: st.shared.b32
// CHECK: setmaxnreg.inc

// A step: between the scores of this block and the product of the one before, the rows of its values that lie behind the length
// become zeros, seen by the matrix unit when every thread of the consumer has written its own.
// CHECK: {{^ *}}^bb[[FULL:[0-9]+]]({{.*}}// 2 preds: ^bb{{[0-9]+}}, ^bb[[FULL]]
// CHECK-COUNT-4: da, db, p, 1, 1, 0, 0
// CHECK: wgmma.commit_group
// CHECK: mbarrier.try_wait.parity
// CHECK: scf.if
// CHECK: scf.while
// CHECK: st.shared.v4.b32
// CHECK: fence.proxy.async.shared::cta
// CHECK: bar.sync $0, 128
// CHECK: wgmma.fence{{.*}}=f
// CHECK-COUNT-8: db, p, 1, 1, 1
// CHECK: wgmma.commit_group
func.func @padding(%q: tensor<?x4x?x64xbf16>, %k: tensor<?x2x?x64xbf16>, %v: tensor<?x2x?x64xbf16>, %length: tensor<?xi32> {attn.name = "length"}) -> tensor<?x4x?x64xbf16> {
  %o = attn.attention q(%q) k(%k) v(%v)
    mask (%b, %h, %i, %j) {
      %n = attn.load %length[%b] : tensor<?xi32>
      %c = arith.cmpi slt, %j, %n : i32
      attn.yield %c : i1
    } : tensor<?x4x?x64xbf16>, tensor<?x2x?x64xbf16>, tensor<?x2x?x64xbf16> -> tensor<?x4x?x64xbf16>
  return %o : tensor<?x4x?x64xbf16>
}
