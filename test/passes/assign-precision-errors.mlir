// RUN: not qm-opt %s --qm-assign-precision=set=precision.p=f8 2>&1 | FileCheck %s --check-prefix=TYPE
// RUN: not qm-opt %s --qm-assign-precision=set=precision.acc=bf16 2>&1 | FileCheck %s --check-prefix=ACC
// RUN: not qm-opt %s --qm-assign-precision=set=precision.qk=f16 2>&1 | FileCheck %s --check-prefix=NARROW
// RUN: not qm-opt %s --qm-assign-precision=set=precision.q=f32 2>&1 | FileCheck %s --check-prefix=FIELD
// RUN: not qm-opt %s --qm-assign-precision=set=precision.operands=tf32 2>&1 | FileCheck %s --check-prefix=NARROWER
// RUN: sed s/bf16/f32/g %s | not qm-opt --qm-assign-precision=set=precision.operands=fp8 2>&1 | FileCheck %s --check-prefix=NARROWER
// RUN: not qm-opt %s --qm-assign-precision=set=prec.p=f32 2>&1 | FileCheck %s --check-prefix=PART

// TYPE: error: QM0303: 'precision.p=f8': 'f8' is not allowed here
// TYPE: note: help: allowed: f16, bf16, f32
// ACC: error: QM0303: 'precision.acc=bf16': 'bf16' is not allowed here
// ACC: note: help: allowed: f32
// NARROW: error: QM0303: 'precision.qk=f16'
// NARROW: note: help: allowed: f32 or the input type: operands are not narrowed
// FIELD: error: QM0302: 'precision.q=f32': no field 'q'
// FIELD: note: help: the fields are operands, qk, pv, p, score, stat, acc
// NARROWER: error: QM0303: 'precision.operands=
// NARROWER: note: help: allowed: tf32, bf16x3, where operands are f32
// PART: error: QM0302: 'prec.p=f32' is not an override
// PART: note: help: write precision.FIELD=TYPE or schedule.FIELD=NUMBER
attn.kernel @f(%q: tensor<?x2x?x64xbf16>, %k: tensor<?x2x?x64xbf16>, %v: tensor<?x2x?x64xbf16>) outs(%o: tensor<?x2x?x64xbf16>)
    attributes {arg_names = ["q", "k", "v", "o"]} {
  %b, %h, %i0 = attn.tile_position
  %qt = attn.load_tile %q[%b, %h, %i0] : tensor<?x2x?x64xbf16> -> !attn.tile<?x64xbf16>
  %m0 = attn.fill 0xFF800000 : !attn.tile<?xf32>
  %l0 = attn.fill 0.0 : !attn.tile<?xf32>
  %a0 = attn.fill 0.0 : !attn.tile<?x64xf32>
  %r:3 = attn.key_blocks (%j0) iter(%m = %m0, %l = %l0, %acc = %a0) : !attn.tile<?xf32>, !attn.tile<?xf32>, !attn.tile<?x64xf32> {
    %kt = attn.load_tile %k[%b, %h, %j0] : tensor<?x2x?x64xbf16> -> !attn.tile<?x64xbf16>
    %s0 = attn.dot %qt, %kt : !attn.tile<?x64xbf16>, !attn.tile<?x64xbf16> -> !attn.tile<?x?xf32>
    %m2, %l2, %p, %alpha = attn.online_softmax %s0, %m, %l : !attn.tile<?x?xf32>, !attn.tile<?xf32>, !attn.tile<?xf32>
      -> !attn.tile<?xf32>, !attn.tile<?xf32>, !attn.tile<?x?xf32>, !attn.tile<?xf32>
    %vt = attn.load_tile %v[%b, %h, %j0] : tensor<?x2x?x64xbf16> -> !attn.tile<?x64xbf16>
    %a2 = attn.accumulate %p, %vt into %acc scaled_by %alpha : !attn.tile<?x?xf32>, !attn.tile<?x64xbf16>, !attn.tile<?x64xf32>, !attn.tile<?xf32> -> !attn.tile<?x64xf32>
    attn.yield %m2, %l2, %a2 : !attn.tile<?xf32>, !attn.tile<?xf32>, !attn.tile<?x64xf32>
  }
  %on, %ln = attn.normalize %r#2 by %r#1 max %r#0 : !attn.tile<?x64xf32>, !attn.tile<?xf32>, !attn.tile<?xf32> -> !attn.tile<?x64xf32>, !attn.tile<?xf32>
  attn.store_tile %on, %o[%b, %h, %i0] : !attn.tile<?x64xf32>, tensor<?x2x?x64xbf16>
}
