// Masks that keep something for some lengths get no warning, and nothing changes.
// RUN: qm-opt %s --qm-warn-empty-mask --verify-diagnostics | FileCheck %s

// CHECK-LABEL: func.func @causal
func.func @causal(%q: tensor<?x2x?x64xbf16>, %k: tensor<?x2x?x64xbf16>, %v: tensor<?x2x?x64xbf16>) -> tensor<?x2x?x64xbf16> {
  // CHECK: attn.attention
  %o = attn.attention q(%q) k(%k) v(%v)
    mask (%b, %h, %i, %j) {
      %c = arith.cmpi sge, %i, %j : i32
      attn.yield %c : i1
    } : tensor<?x2x?x64xbf16>, tensor<?x2x?x64xbf16>, tensor<?x2x?x64xbf16> -> tensor<?x2x?x64xbf16>
  return %o : tensor<?x2x?x64xbf16>
}

// One alternative of two can hold; so can a window of one key, and a modulus that is in range.
func.func @possible(%q: tensor<?x2x?x64xbf16>, %k: tensor<?x2x?x64xbf16>, %v: tensor<?x2x?x64xbf16>) -> tensor<?x2x?x64xbf16> {
  %o = attn.attention q(%q) k(%k) v(%v)
    mask (%b, %h, %i, %j) {
      %zero = arith.constant 0 : i32
      %two = arith.constant 2 : i32
      %one = arith.constant 1 : i32
      %never = arith.cmpi slt, %j, %zero : i32
      %d = arith.subi %i, %j : i32
      %least = arith.cmpi sge, %d, %two : i32
      %most = arith.cmpi sle, %d, %two : i32
      %window = arith.andi %least, %most : i1
      %q2 = arith.floordivsi %i, %two : i32
      %p2 = arith.muli %q2, %two : i32
      %odd = arith.subi %i, %p2 : i32
      %isOdd = arith.cmpi eq, %odd, %one : i32
      %both = arith.andi %window, %isOdd : i1
      %any = arith.ori %never, %both : i1
      attn.yield %any : i1
    } : tensor<?x2x?x64xbf16>, tensor<?x2x?x64xbf16>, tensor<?x2x?x64xbf16> -> tensor<?x2x?x64xbf16>
  return %o : tensor<?x2x?x64xbf16>
}
