// sm_75: how warps divide the tile between rows and keys.
// RUN: qm-opt %s --qm-compile="target=sm_75" | FileCheck %s

// Two CTAs of four warps where 32 KB do.
// CHECK-LABEL: attn.kernel @narrow
// CHECK-SAME:  #attn.schedule<target = "sm_75", tile_m = 128, tile_n = 64, warps = 4, stages = 2, micro_m = 32, micro_n = 64>
func.func @narrow(%q: tensor<?x4x?x64xf16>, %k: tensor<?x4x?x64xf16>, %v: tensor<?x4x?x64xf16>) -> tensor<?x4x?x64xf16> {
  %o = attn.attention q(%q) k(%k) v(%v) : tensor<?x4x?x64xf16>, tensor<?x4x?x64xf16>, tensor<?x4x?x64xf16> -> tensor<?x4x?x64xf16>
  return %o : tensor<?x4x?x64xf16>
}

// One CTA with all of 64 KB: two warps share rows and halve the keys.
// CHECK-LABEL: attn.kernel @wide
// CHECK-SAME:  #attn.schedule<target = "sm_75", tile_m = 128, tile_n = 64, warps = 8, stages = 2, micro_m = 32, micro_n = 32>
func.func @wide(%q: tensor<?x4x?x128xf16>, %k: tensor<?x4x?x128xf16>, %v: tensor<?x4x?x128xf16>) -> tensor<?x4x?x128xf16> {
  %o = attn.attention q(%q) k(%k) v(%v) : tensor<?x4x?x128xf16>, tensor<?x4x?x128xf16>, tensor<?x4x?x128xf16> -> tensor<?x4x?x128xf16>
  return %o : tensor<?x4x?x128xf16>
}

// An accumulator of 256 columns leaves a warp 16 rows.
// CHECK-LABEL: attn.kernel @widest
// CHECK-SAME:  #attn.schedule<target = "sm_75", tile_m = 64, tile_n = 32, warps = 8, stages = 2, micro_m = 16, micro_n = 16>
func.func @widest(%q: tensor<?x4x?x256xf16>, %k: tensor<?x4x?x256xf16>, %v: tensor<?x4x?x256xf16>) -> tensor<?x4x?x256xf16> {
  %o = attn.attention q(%q) k(%k) v(%v) : tensor<?x4x?x256xf16>, tensor<?x4x?x256xf16>, tensor<?x4x?x256xf16> -> tensor<?x4x?x256xf16>
  return %o : tensor<?x4x?x256xf16>
}
