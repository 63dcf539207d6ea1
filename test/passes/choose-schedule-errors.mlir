// RUN: not qm-opt %s --qm-assign-precision --qm-choose-schedule=target=sm_42 2>&1 | FileCheck %s --check-prefix=TARGET
// RUN: not qm-opt %s --qm-choose-schedule=target=sm_80 2>&1 | FileCheck %s --check-prefix=LEVEL
// RUN: not qm-opt %s --qm-assign-precision --qm-choose-schedule="target=cpu set=schedule.tile_n=0" 2>&1 | FileCheck %s --check-prefix=VALUE
// RUN: not qm-opt %s --qm-assign-precision --qm-choose-schedule="target=cpu set=schedule.tile_k=16" 2>&1 | FileCheck %s --check-prefix=FIELD
// RUN: not qm-opt %s --qm-assign-precision --qm-choose-schedule=target=sm_86 2>&1 | FileCheck %s --check-prefix=FIT

// TARGET: error: QM0304: no target 'sm_42'
// TARGET: note: help: the targets are cpu, {{.*}}sm_80
// LEVEL: error: QM0306: the kernel is not at the typed level
// LEVEL: note: help: run qm-assign-precision before
// VALUE: error: QM0303: 'schedule.tile_n=0': '0' is not allowed here
// FIELD: error: QM0302: 'schedule.tile_k=16': no field 'tile_k'
// FIT: error: QM0305: head dims 1024 and 1024 in tiles of 64x32 need 262144 bytes of shared memory and about 591 registers a thread; sm_86 has 101376 and 255
// FIT: note: help: use --arch=cpu, or smaller tiles with --set schedule.tile_n=16
attn.kernel @f(%q: tensor<?x2x?x1024xbf16>, %k: tensor<?x2x?x1024xbf16>, %v: tensor<?x2x?x1024xbf16>) outs(%o: tensor<?x2x?x1024xbf16>)
    attributes {arg_names = ["q", "k", "v", "o"]} {
  %b, %h, %i0 = attn.tile_position
  %qt = attn.load_tile %q[%b, %h, %i0] : tensor<?x2x?x1024xbf16> -> !attn.tile<?x1024xbf16>
  %m0 = attn.fill 0xFF800000 : !attn.tile<?xf32>
  %l0 = attn.fill 0.0 : !attn.tile<?xf32>
  %a0 = attn.fill 0.0 : !attn.tile<?x1024xf32>
  %r:3 = attn.key_blocks (%j0) iter(%m = %m0, %l = %l0, %acc = %a0) : !attn.tile<?xf32>, !attn.tile<?xf32>, !attn.tile<?x1024xf32> {
    %kt = attn.load_tile %k[%b, %h, %j0] : tensor<?x2x?x1024xbf16> -> !attn.tile<?x1024xbf16>
    %s0 = attn.dot %qt, %kt : !attn.tile<?x1024xbf16>, !attn.tile<?x1024xbf16> -> !attn.tile<?x?xf32>
    %m2, %l2, %p, %alpha = attn.online_softmax %s0, %m, %l : !attn.tile<?x?xf32>, !attn.tile<?xf32>, !attn.tile<?xf32>
      -> !attn.tile<?xf32>, !attn.tile<?xf32>, !attn.tile<?x?xf32>, !attn.tile<?xf32>
    %vt = attn.load_tile %v[%b, %h, %j0] : tensor<?x2x?x1024xbf16> -> !attn.tile<?x1024xbf16>
    %a2 = attn.accumulate %p, %vt into %acc scaled_by %alpha : !attn.tile<?x?xf32>, !attn.tile<?x1024xbf16>, !attn.tile<?x1024xf32>, !attn.tile<?xf32> -> !attn.tile<?x1024xf32>
    attn.yield %m2, %l2, %a2 : !attn.tile<?xf32>, !attn.tile<?xf32>, !attn.tile<?x1024xf32>
  }
  %on, %ln = attn.normalize %r#2 by %r#1 max %r#0 : !attn.tile<?x1024xf32>, !attn.tile<?xf32>, !attn.tile<?xf32> -> !attn.tile<?x1024xf32>, !attn.tile<?xf32>
  attn.store_tile %on, %o[%b, %h, %i0] : !attn.tile<?x1024xf32>, tensor<?x2x?x1024xbf16>
}
