// RUN: qm-opt %s --qm-to-online --qm-tile-attention --verify-diagnostics --split-input-file

// The order of arguments is the launch contract.
func.func @order(%k: tensor<?x8x?x64xf32>, %q: tensor<?x8x?x64xf32>, %v: tensor<?x8x?x64xf32>) -> tensor<?x8x?x64xf32> {
  // expected-error @below {{QM0301: q, k and v are not the function's first three arguments in this order}}
  // expected-note @below {{help: write func.func @name(%q, %k, %v, captures...)}}
  %o = attn.attention q(%q) k(%k) v(%v) : tensor<?x8x?x64xf32>, tensor<?x8x?x64xf32>, tensor<?x8x?x64xf32> -> tensor<?x8x?x64xf32>
  return %o : tensor<?x8x?x64xf32>
}

// -----

// Other work on tensors belongs to other compilers.
func.func @beside(%q: tensor<?x8x?x64xf32>, %k: tensor<?x8x?x64xf32>, %v: tensor<?x8x?x64xf32>) -> tensor<?x8x?x64xf32> {
  %o = attn.attention q(%q) k(%k) v(%v) : tensor<?x8x?x64xf32>, tensor<?x8x?x64xf32>, tensor<?x8x?x64xf32> -> tensor<?x8x?x64xf32>
  // expected-error @below {{QM0301: 'arith.addf' stands beside the attention operator}}
  // expected-note @below {{help: }}
  %t = arith.addf %o, %o : tensor<?x8x?x64xf32>
  return %t : tensor<?x8x?x64xf32>
}

// -----

// Run-time scalars are i32 or f32.
// expected-error @below {{QM0301: argument 3 is neither a tensor nor i32 nor f32}}
// expected-note @below {{help: }}
func.func @scalar(%q: tensor<?x8x?x64xf32>, %k: tensor<?x8x?x64xf32>, %v: tensor<?x8x?x64xf32>, %n: i64) -> tensor<?x8x?x64xf32> {
  %o = attn.attention q(%q) k(%k) v(%v) : tensor<?x8x?x64xf32>, tensor<?x8x?x64xf32>, tensor<?x8x?x64xf32> -> tensor<?x8x?x64xf32>
  return %o : tensor<?x8x?x64xf32>
}

// -----

// expected-error @below {{QM0301: the function holds no attention operator at the online level}}
// expected-note @below {{help: }}
func.func @nothing(%x: tensor<4xf32>) -> tensor<4xf32> {
  return %x : tensor<4xf32>
}

// -----

func.func @dropped(%q: tensor<?x8x?x64xf32>, %k: tensor<?x8x?x64xf32>, %v: tensor<?x8x?x64xf32>) {
  %o = attn.attention q(%q) k(%k) v(%v) : tensor<?x8x?x64xf32>, tensor<?x8x?x64xf32>, tensor<?x8x?x64xf32> -> tensor<?x8x?x64xf32>
  // expected-error @below {{QM0301: the function does not return what the operator yields}}
  // expected-note @below {{help: }}
  return
}
