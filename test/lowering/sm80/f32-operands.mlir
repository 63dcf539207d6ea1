// f32 operands: read as 4-byte elements and multiplied as sums of two bf16 (three products of 16 columns), or rounded to tf32
// (two products of 8 columns); probabilities are made into operands in registers; O goes to global memory from there.
// RUN: qm-opt %s "--qm-compile=target=sm_80 set=schedule.tile_m=16,schedule.tile_n=16,schedule.warps=1,schedule.stages=2,schedule.one_loop=1" --qm-lower-to-sm80 | FileCheck %s --check-prefixes=CHECK,SPLIT
// RUN: qm-opt %s "--qm-compile=target=sm_80 set=precision.operands=tf32,schedule.tile_m=16,schedule.tile_n=16,schedule.warps=1,schedule.stages=2,schedule.one_loop=1" --qm-lower-to-sm80 | FileCheck %s --check-prefixes=CHECK,TF32
// The CPU multiplies f32 as it is.
// RUN: not qm-opt %s "--qm-compile=target=cpu set=precision.operands=tf32" --qm-lower-to-cpu 2>&1 | FileCheck %s --check-prefix=CPU
// CPU: error: QM0403: precision.operands = tf32 is not supported on CPU targets
// CPU: note: help: leave precision.operands at its default, or use --arch=sm_80

func.func @f(%q: tensor<?x1x?x16xf32>, %k: tensor<?x1x?x16xf32>, %v: tensor<?x1x?x16xf32>) -> tensor<?x1x?x16xf32> {
  %o = attn.attention q(%q) k(%k) v(%v) : tensor<?x1x?x16xf32>, tensor<?x1x?x16xf32>, tensor<?x1x?x16xf32> -> tensor<?x1x?x16xf32>
  return %o : tensor<?x1x?x16xf32>
}

// Rows of 64 bytes and one unused chunk: 80 bytes; 16 query rows and two slots of 16.
// CHECK: attn.shared_bytes = 3840 : i64
// Rows are 4-byte elements in global memory.
// CHECK: arith.extui
// CHECK: arith.muli
// CHECK: %[[BYTES:.*]] = arith.constant 2 : i64
// CHECK: arith.muli %{{.*}}, %[[BYTES]] : i64
// The copy of 4 rows at once.
// CHECK: mad.lo.s64 $0, $1, 16, $2;

// The loop over key blocks. 16 columns of 16 keys: 8 columns a ldmatrix.
// CHECK: scf.while
// CHECK-COUNT-2: ldmatrix.sync.aligned.m8n8.x4.shared
// SPLIT: cvt.rn.bf16x2.f32
// TF32: cvt.rna.tf32.f32
// Scores of 16 keys, then 16 columns of O.
// SPLIT-COUNT-6: mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32
// TF32-COUNT-4: mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32
// Values: keys 2 l and 2 l + 1, then 8 further.
// CHECK: ld.shared.f32 $0, [$1+{{[0-9]+}}];
// SPLIT-COUNT-6: mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32
// TF32-COUNT-4: mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32
// CHECK-NOT: mma.sync
// CHECK: st.global.v2.f32 [$1+0], {$2,$3};
// CHECK: st.global.v2.f32 [$1+32], {$2,$3};
