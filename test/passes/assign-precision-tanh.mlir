// RUN: qm-opt %s --qm-compile="target=sm_90a" | FileCheck %s --check-prefix=EXACT
// RUN: qm-opt %s --qm-compile="target=sm_90a set=precision.tanh=approx" | FileCheck %s --check-prefix=APPROX
// RUN: sed "s/math.tanh %%x/math.tanh %%x fastmath<afn>/" %s | qm-opt --qm-compile="target=sm_90a set=precision.tanh=exact" | FileCheck %s --check-prefix=EXACT
// RUN: sed "s/math.tanh %%x/math.tanh %%x fastmath<afn>/" %s | qm-opt --qm-compile="target=sm_90a" | FileCheck %s --check-prefix=APPROX
// RUN: not qm-opt %s --qm-compile="target=sm_90a set=precision.tanh=fast" 2>&1 | FileCheck %s --check-prefix=VALUE

// A tanh is exact unless its flags, or the caller, allow the machine's approximation; the IR says which. Without a mask a score
// function with one gets three consumers.
// EXACT: consumers = 3
// EXACT: math.tanh %{{[a-z0-9_]+}} : f32
// APPROX: consumers = 3
// APPROX: math.tanh %{{[a-z0-9_]+}} fastmath<afn> : f32
// VALUE: error: QM0303: 'precision.tanh=fast': 'fast' is not allowed here
// VALUE: help: allowed: exact, approx
func.func @softcap(%q: tensor<?x2x?x128xbf16>, %k: tensor<?x2x?x128xbf16>, %v: tensor<?x2x?x128xbf16>) -> tensor<?x2x?x128xbf16> {
  %o = attn.attention q(%q) k(%k) v(%v)
    score (%s, %b, %h, %i, %j) {
      %cap = arith.constant 30.0 : f32
      %x = arith.divf %s, %cap : f32
      %t = math.tanh %x : f32
      %y = arith.mulf %t, %cap : f32
      attn.yield %y : f32
    } : tensor<?x2x?x128xbf16>, tensor<?x2x?x128xbf16>, tensor<?x2x?x128xbf16> -> tensor<?x2x?x128xbf16>
  return %o : tensor<?x2x?x128xbf16>
}
