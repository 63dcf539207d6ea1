// RUN: qm-opt %s --qm-assign-precision | FileCheck %s --check-prefix=DEFAULT
// RUN: qm-opt %s --qm-assign-precision=set=precision.p=f32 | FileCheck %s --check-prefix=P32
// RUN: qm-opt %s --qm-assign-precision=set=precision.qk=f32,precision.pv=f32,schedule.tile_n=32 | FileCheck %s --check-prefix=OPERANDS

// By default P is rounded to the input type and operands are left alone.
// DEFAULT: precision = #attn.precision<qk = bf16, pv = bf16, p = bf16, score = f32, stat = f32, acc = f32>
// DEFAULT: attn.dot {{.*}} : !attn.tile<?x64xbf16>, !attn.tile<?x64xbf16>
// DEFAULT: %[[P:.*]] = attn.cast %{{.*}} : !attn.tile<?x?xf32> to !attn.tile<?x?xbf16>
// DEFAULT: attn.accumulate %[[P]], {{.*}} : !attn.tile<?x?xbf16>, !attn.tile<?x64xbf16>

// P unrounded needs a product in f32, so V is widened.
// P32: precision = #attn.precision<qk = bf16, pv = f32, p = f32,
// P32-NOT: to !attn.tile<?x?xbf16>
// P32: %[[V:.*]] = attn.cast %{{.*}} : !attn.tile<?x64xbf16> to !attn.tile<?x64xf32>
// P32: attn.accumulate %{{.*}}, %[[V]] into {{.*}} : !attn.tile<?x?xf32>, !attn.tile<?x64xf32>

// Operands in f32: q once outside the loop; P is still rounded, then widened.
// OPERANDS: precision = #attn.precision<qk = f32, pv = f32, p = bf16,
// OPERANDS: attn.cast %{{.*}} : !attn.tile<?x64xbf16> to !attn.tile<?x64xf32>
// OPERANDS: attn.key_blocks
// OPERANDS: attn.dot {{.*}} : !attn.tile<?x64xf32>, !attn.tile<?x64xf32>
// OPERANDS: %[[R:.*]] = attn.cast %{{.*}} : !attn.tile<?x?xf32> to !attn.tile<?x?xbf16>
// OPERANDS: attn.cast %[[R]] : !attn.tile<?x?xbf16> to !attn.tile<?x?xf32>
// f32 stays f32 (bf16x3 is how a matrix unit multiplies it), or both products take tf32.
// RUN: sed s/bf16/f32/g %s | qm-opt --qm-assign-precision=set=precision.operands=bf16x3 | FileCheck %s --check-prefix=BF16X3
// RUN: sed s/bf16/f32/g %s | qm-opt --qm-assign-precision=set=precision.operands=tf32 | FileCheck %s --check-prefix=TF32
// BF16X3: precision = #attn.precision<qk = f32, pv = f32, p = f32,
// BF16X3-NOT: attn.cast
// TF32: precision = #attn.precision<qk = tf32, pv = tf32, p = tf32,
// TF32: attn.cast {{.*}} : !attn.tile<?x64xf32> to !attn.tile<?x64xtf32>
// TF32: attn.dot {{.*}} : !attn.tile<?x64xtf32>, !attn.tile<?x64xtf32>
// TF32: attn.cast {{.*}} : !attn.tile<?x?xf32> to !attn.tile<?x?xtf32>
// TF32: attn.accumulate {{.*}} : !attn.tile<?x?xtf32>, !attn.tile<?x64xtf32>
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
