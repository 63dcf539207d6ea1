// What the pass is given must verify: it has no way to fail of its own.
// RUN: qm-opt %s --qm-to-online --verify-diagnostics --split-input-file

func.func @batch(%q: tensor<4x8x?x64xf32>, %k: tensor<2x8x?x64xf32>, %v: tensor<2x8x?x64xf32>) -> tensor<4x8x?x64xf32> {
  // expected-error @below {{QM0202: batch of q and k differs: 4 and 2}}
  // expected-note @below {{help: only q may have more heads, and v a head dim of its own}}
  %o = attn.attention q(%q) k(%k) v(%v) : tensor<4x8x?x64xf32>, tensor<2x8x?x64xf32>, tensor<2x8x?x64xf32> -> tensor<4x8x?x64xf32>
  return %o : tensor<4x8x?x64xf32>
}
