// RUN: qm-opt %s --qm-warn-empty-mask --verify-diagnostics --split-input-file

// Before and after at once, with the shift of a bottom-right alignment.
func.func @excluded(%q: tensor<?x2x?x64xbf16>, %k: tensor<?x2x?x64xbf16>, %v: tensor<?x2x?x64xbf16>) -> tensor<?x2x?x64xbf16> {
  %o = attn.attention q(%q) k(%k) v(%v)
    mask (%b, %h, %i, %j) {
      %n = attn.extent key : i32
      %m = attn.extent query : i32
      %d = arith.subi %n, %m : i32
      %p = arith.addi %i, %d : i32
      %past = arith.cmpi sge, %p, %j : i32
      %n2 = attn.extent key : i32
      %m2 = attn.extent query : i32
      %d2 = arith.subi %n2, %m2 : i32
      %p2 = arith.addi %i, %d2 : i32
      %future = arith.cmpi slt, %p2, %j : i32
      %c = arith.andi %past, %future : i1
      // expected-warning @below {{QM0307: this mask keeps no pair: its conditions exclude each other}}
      // expected-note @below {{help: every row is O = 0; combine masks of which one has to hold with ||}}
      attn.yield %c : i1
    } : tensor<?x2x?x64xbf16>, tensor<?x2x?x64xbf16>, tensor<?x2x?x64xbf16> -> tensor<?x2x?x64xbf16>
  return %o : tensor<?x2x?x64xbf16>
}

// -----

// Three conditions, none of which excludes another alone: j <= i, i <= 2, j >= 5; and in the other case a negative key.
func.func @three(%q: tensor<?x2x?x64xbf16>, %k: tensor<?x2x?x64xbf16>, %v: tensor<?x2x?x64xbf16>) -> tensor<?x2x?x64xbf16> {
  %o = attn.attention q(%q) k(%k) v(%v)
    mask (%b, %h, %i, %j) {
      %zero = arith.constant 0 : i32
      %two = arith.constant 2 : i32
      %five = arith.constant 5 : i32
      %a = arith.cmpi sle, %j, %i : i32
      %b2 = arith.cmpi sle, %i, %two : i32
      %c = arith.cmpi sge, %j, %five : i32
      %ab = arith.andi %a, %b2 : i1
      %abc = arith.andi %ab, %c : i1
      %d = arith.cmpi slt, %j, %zero : i32
      %any = arith.ori %abc, %d : i1
      // expected-warning @below {{QM0307}}
      // expected-note @below {{help: every row}}
      attn.yield %any : i1
    } : tensor<?x2x?x64xbf16>, tensor<?x2x?x64xbf16>, tensor<?x2x?x64xbf16> -> tensor<?x2x?x64xbf16>
  return %o : tensor<?x2x?x64xbf16>
}

// -----

// The same document and not the same; i mod 2 is never 5.
func.func @document(%q: tensor<?x2x?x64xbf16>, %k: tensor<?x2x?x64xbf16>, %v: tensor<?x2x?x64xbf16>, %ids: tensor<?xi32>) -> tensor<?x2x?x64xbf16> {
  %o = attn.attention q(%q) k(%k) v(%v)
    mask (%b, %h, %i, %j) {
      %true = arith.constant true
      %two = arith.constant 2 : i32
      %five = arith.constant 5 : i32
      %x = attn.load %ids[%i] : tensor<?xi32>
      %y = attn.load %ids[%j] : tensor<?xi32>
      %same = arith.cmpi eq, %x, %y : i32
      %x2 = attn.load %ids[%i] : tensor<?xi32>
      %y2 = attn.load %ids[%j] : tensor<?xi32>
      %again = arith.cmpi eq, %x2, %y2 : i32
      %not = arith.xori %again, %true : i1
      %both = arith.andi %same, %not : i1
      %q2 = arith.floordivsi %i, %two : i32
      %p2 = arith.muli %q2, %two : i32
      %odd = arith.subi %i, %p2 : i32
      %never = arith.cmpi eq, %odd, %five : i32
      %c = arith.select %never, %same, %both : i1
      // expected-warning @below {{QM0307}}
      // expected-note @below {{help: every row}}
      attn.yield %c : i1
    } : tensor<?x2x?x64xbf16>, tensor<?x2x?x64xbf16>, tensor<?x2x?x64xbf16> -> tensor<?x2x?x64xbf16>
  return %o : tensor<?x2x?x64xbf16>
}
