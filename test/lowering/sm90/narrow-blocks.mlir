// Key blocks of 16: eight scores a thread, all of whose exponentials come before the wait for the product under way.
// RUN: qm-opt %s --qm-compile="target=sm_90a set=schedule.tile_n=16 set=schedule.ping_pong=0" --qm-lower-to-sm90 | FileCheck %s

// CHECK: llvm.func @full
// CHECK: setmaxnreg.inc
// CHECK: {{^ *}}^bb[[FULL:[0-9]+]]({{.*}}// 2 preds: ^bb{{[0-9]+}}, ^bb[[FULL]]
// CHECK: wgmma.wait_group.sync.aligned 1;
// CHECK-COUNT-8: ex2.approx
// CHECK: wgmma.wait_group.sync.aligned 0;
func.func @full(%q: tensor<?x4x?x64xbf16>, %k: tensor<?x4x?x64xbf16>, %v: tensor<?x4x?x64xbf16>) -> tensor<?x4x?x64xbf16> {
  %o = attn.attention q(%q) k(%k) v(%v) : tensor<?x4x?x64xbf16>, tensor<?x4x?x64xbf16>, tensor<?x4x?x64xbf16> -> tensor<?x4x?x64xbf16>
  return %o : tensor<?x4x?x64xbf16>
}
