// RUN: qm-opt %s --qm-compile="target=sm_90a" --qm-lower-to-sm90 | FileCheck %s
// RUN: qm-opt %s --qm-compile="target=sm_90a" --qm-lower-to-sm90 | FileCheck %s --check-prefix=BIAS
// RUN: qm-opt %s --qm-compile="target=sm_90a set=softcap:precision.tanh=approx set=softcap:schedule.poly_exp2=4" --qm-lower-to-sm90 | FileCheck %s --check-prefix=CAP

// RUN: qm-opt %s --qm-compile="target=sm_90a" | qm-opt --pass-pipeline='builtin.module(attn.kernel(qm-expand-gpu-math),qm-lower-to-sm90)' | FileCheck %s --check-prefix=EXACT

// A distance becomes a float once for each of a thread's two rows. What a score has in common with its row is added to the row's
// maximum, before the lanes exchange it: each lane starts at another key.
// CHECK: llvm.func @alibi
// CHECK: setmaxnreg.inc
// CHECK: wgmma.wait_group.sync.aligned 0
// CHECK: arith.sitofp
// CHECK: arith.sitofp
// CHECK-NOT: arith.sitofp
// CHECK: %[[FIRST:.*]] = arith.bitcast %{{.*}} : i32 to f32
// CHECK-NEXT: arith.addf %[[FIRST]]
// CHECK-NEXT: %[[SECOND:.*]] = arith.bitcast %{{.*}} : i32 to f32
// CHECK-NEXT: arith.addf %[[SECOND]]
// CHECK-NOT: arith.addf
// CHECK: shfl.sync bfly

// A bias by query and key in a full block: two neighbours in one load, none clamped, all issued before the scores' product is.
// BIAS: llvm.func @bias
// BIAS: setmaxnreg.inc
// BIAS: {{^ *}}^bb[[FULL:[0-9]+]]({{.*}}// 2 preds: ^bb{{[0-9]+}}, ^bb[[FULL]]
// BIAS-NOT: wgmma
// BIAS-COUNT-32: llvm.load %{{[0-9]+}} : !llvm.ptr<1> -> i32
// BIAS: bar.sync
// BIAS: wgmma.commit_group
// BIAS: wgmma.commit_group
// BIAS: wgmma.wait_group.sync.aligned 1;
// BIAS-NOT: !llvm.ptr<1>
// BIAS: shfl.sync bfly
// Scores within 30 of 0: a step has no maximum and no exchange between lanes outside of the branch for sums beyond 2^40, and a
// quarter of its exponentials are polynomials.
// CAP: llvm.func @softcap
// CAP: setmaxnreg.inc
// CAP: {{^ *}}^bb[[FULL:[0-9]+]]({{.*}}// 2 preds: ^bb{{[0-9]+}}, ^bb[[FULL]]
// CAP: wgmma.wait_group.sync.aligned 1;
// CAP-NOT: arith.max
// CAP: tanh.approx
// CAP-NOT: arith.max
// CAP: ex2.approx
// CAP-NOT: arith.max
// CAP: %[[MAGIC:.*]] = arith.constant 0x4B400000 : f32
// CAP-NEXT: arith.addf %{{.*}}, %[[MAGIC]]
// CAP-NOT: shfl.sync bfly
// CAP: arith.constant 1.09951163E+12 : f32
// CAP: scf.if
// CAP: shfl.sync bfly

// The exact tanh in a full block: one vote on whether some score is large, and a branch for either case, with the exponentials in
// it. Near 0 there is no exponential but that of the softmax, and no reciprocal; elsewhere four elements share one.
// EXACT: llvm.func @softcap
// EXACT: setmaxnreg.inc
// EXACT: {{^ *}}^bb[[FULL:[0-9]+]]({{.*}}// 2 preds: ^bb{{[0-9]+}}, ^bb[[FULL]]
// EXACT: wgmma.wait_group.sync.aligned 1;
// EXACT-NOT: ex2.approx
// EXACT: arith.maxnumf
// EXACT: arith.maxsi
// EXACT-NOT: ex2.approx
// EXACT: nvvm.vote.sync any
// EXACT: scf.if
// EXACT: ex2.approx
// EXACT: fma.rn.sat.f32
// EXACT: rcp.approx
// EXACT: ex2.approx
// EXACT: } else {
// EXACT-NOT: rcp.approx
// EXACT: math.fma
// EXACT-NOT: rcp.approx
// EXACT: ex2.approx
// EXACT-NOT: rcp.approx
// EXACT: wgmma.wait_group.sync.aligned 0;
func.func @softcap(%q: tensor<?x4x?x64xbf16>, %k: tensor<?x4x?x64xbf16>, %v: tensor<?x4x?x64xbf16>) -> tensor<?x4x?x64xbf16> {
  %o = attn.attention q(%q) k(%k) v(%v)
    score (%s, %b, %h, %i, %j) {
      %cap = arith.constant 30.0 : f32
      %x = arith.divf %s, %cap : f32
      %t = math.tanh %x : f32
      %y = arith.mulf %t, %cap : f32
      attn.yield %y : f32
    } : tensor<?x4x?x64xbf16>, tensor<?x4x?x64xbf16>, tensor<?x4x?x64xbf16> -> tensor<?x4x?x64xbf16>
  return %o : tensor<?x4x?x64xbf16>
}

func.func @alibi(%q: tensor<?x4x?x64xbf16>, %k: tensor<?x4x?x64xbf16>, %v: tensor<?x4x?x64xbf16>, %slopes: tensor<4xf32> {attn.name = "slopes"}) -> tensor<?x4x?x64xbf16> {
  %o = attn.attention q(%q) k(%k) v(%v)
    score (%s, %b, %h, %i, %j) {
      %m = attn.load %slopes[%h] : tensor<4xf32>
      %d = arith.subi %j, %i : i32
      %f = arith.sitofp %d : i32 to f32
      %p = arith.mulf %m, %f : f32
      %t = arith.addf %s, %p : f32
      attn.yield %t : f32
    } : tensor<?x4x?x64xbf16>, tensor<?x4x?x64xbf16>, tensor<?x4x?x64xbf16> -> tensor<?x4x?x64xbf16>
  return %o : tensor<?x4x?x64xbf16>
}

func.func @bias(%q: tensor<?x4x?x64xbf16>, %k: tensor<?x4x?x64xbf16>, %v: tensor<?x4x?x64xbf16>, %bias: tensor<?x?xbf16> {attn.name = "bias"}) -> tensor<?x4x?x64xbf16> {
  %o = attn.attention q(%q) k(%k) v(%v)
    score (%s, %b, %h, %i, %j) {
      %t = attn.load %bias[%i, %j] : tensor<?x?xbf16>
      %f = arith.extf %t : bf16 to f32
      %y = arith.addf %s, %f : f32
      attn.yield %y : f32
    } : tensor<?x4x?x64xbf16>, tensor<?x4x?x64xbf16>, tensor<?x4x?x64xbf16> -> tensor<?x4x?x64xbf16>
  return %o : tensor<?x4x?x64xbf16>
}
