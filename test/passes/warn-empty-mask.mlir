// Masks that keep something for some lengths get no warning, and nothing changes.
// RUN: qm-opt %s --qm-warn-empty-mask --verify-diagnostics | FileCheck %s
// RUN: qm-opt %s --qm-compile="target=x86-64-v3" > /dev/null

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

// Many terms, each used twice: the pass gives up in time.
// CHECK-LABEL: func.func @doubled
func.func @doubled(%q: tensor<?x2x?x64xbf16>, %k: tensor<?x2x?x64xbf16>, %v: tensor<?x2x?x64xbf16>, %t: tensor<?xi32>) -> tensor<?x2x?x64xbf16> {
  %o = attn.attention q(%q) k(%k) v(%v)
    mask (%b, %h, %i, %j) {
      %s0 = arith.addi %i, %i : i32
      %s1 = arith.addi %s0, %s0 : i32
      %s2 = arith.addi %s1, %s1 : i32
      %s3 = arith.addi %s2, %s2 : i32
      %s4 = arith.addi %s3, %s3 : i32
      %s5 = arith.addi %s4, %s4 : i32
      %s6 = arith.addi %s5, %s5 : i32
      %s7 = arith.addi %s6, %s6 : i32
      %s8 = arith.addi %s7, %s7 : i32
      %s9 = arith.addi %s8, %s8 : i32
      %s10 = arith.addi %s9, %s9 : i32
      %s11 = arith.addi %s10, %s10 : i32
      %s12 = arith.addi %s11, %s11 : i32
      %s13 = arith.addi %s12, %s12 : i32
      %s14 = arith.addi %s13, %s13 : i32
      %s15 = arith.addi %s14, %s14 : i32
      %s16 = arith.addi %s15, %s15 : i32
      %s17 = arith.addi %s16, %s16 : i32
      %s18 = arith.addi %s17, %s17 : i32
      %s19 = arith.addi %s18, %s18 : i32
      %s20 = arith.addi %s19, %s19 : i32
      %s21 = arith.addi %s20, %s20 : i32
      %s22 = arith.addi %s21, %s21 : i32
      %s23 = arith.addi %s22, %s22 : i32
      %s24 = arith.addi %s23, %s23 : i32
      %s25 = arith.addi %s24, %s24 : i32
      %s26 = arith.addi %s25, %s25 : i32
      %s27 = arith.addi %s26, %s26 : i32
      %s28 = arith.addi %s27, %s27 : i32
      %s29 = arith.addi %s28, %s28 : i32
      %s30 = arith.addi %s29, %s29 : i32
      %s31 = arith.addi %s30, %s30 : i32
      %s32 = arith.addi %s31, %s31 : i32
      %s33 = arith.addi %s32, %s32 : i32
      %s34 = arith.addi %s33, %s33 : i32
      %s35 = arith.addi %s34, %s34 : i32
      %s36 = arith.addi %s35, %s35 : i32
      %s37 = arith.addi %s36, %s36 : i32
      %s38 = arith.addi %s37, %s37 : i32
      %s39 = arith.addi %s38, %s38 : i32
      %s40 = arith.addi %s39, %s39 : i32
      %s41 = arith.addi %s40, %s40 : i32
      %s42 = arith.addi %s41, %s41 : i32
      %s43 = arith.addi %s42, %s42 : i32
      %s44 = arith.addi %s43, %s43 : i32
      %s45 = arith.addi %s44, %s44 : i32
      %s46 = arith.addi %s45, %s45 : i32
      %s47 = arith.addi %s46, %s46 : i32
      %s48 = arith.addi %s47, %s47 : i32
      %s49 = arith.addi %s48, %s48 : i32
      %s50 = arith.addi %s49, %s49 : i32
      %s51 = arith.addi %s50, %s50 : i32
      %s52 = arith.addi %s51, %s51 : i32
      %s53 = arith.addi %s52, %s52 : i32
      %s54 = arith.addi %s53, %s53 : i32
      %s55 = arith.addi %s54, %s54 : i32
      %s56 = arith.addi %s55, %s55 : i32
      %s57 = arith.addi %s56, %s56 : i32
      %s58 = arith.addi %s57, %s57 : i32
      %s59 = arith.addi %s58, %s58 : i32
      %p0 = arith.cmpi slt, %s59, %j : i32
      %p1 = arith.select %p0, %p0, %p0 : i1
      %p2 = arith.select %p1, %p1, %p1 : i1
      %p3 = arith.select %p2, %p2, %p2 : i1
      %p4 = arith.select %p3, %p3, %p3 : i1
      %p5 = arith.select %p4, %p4, %p4 : i1
      %p6 = arith.select %p5, %p5, %p5 : i1
      %p7 = arith.select %p6, %p6, %p6 : i1
      %p8 = arith.select %p7, %p7, %p7 : i1
      %p9 = arith.select %p8, %p8, %p8 : i1
      %p10 = arith.select %p9, %p9, %p9 : i1
      %p11 = arith.select %p10, %p10, %p10 : i1
      %p12 = arith.select %p11, %p11, %p11 : i1
      %p13 = arith.select %p12, %p12, %p12 : i1
      %p14 = arith.select %p13, %p13, %p13 : i1
      %p15 = arith.select %p14, %p14, %p14 : i1
      %p16 = arith.select %p15, %p15, %p15 : i1
      %p17 = arith.select %p16, %p16, %p16 : i1
      %p18 = arith.select %p17, %p17, %p17 : i1
      %p19 = arith.select %p18, %p18, %p18 : i1
      %p20 = arith.select %p19, %p19, %p19 : i1
      %p21 = arith.select %p20, %p20, %p20 : i1
      %p22 = arith.select %p21, %p21, %p21 : i1
      %p23 = arith.select %p22, %p22, %p22 : i1
      %p24 = arith.select %p23, %p23, %p23 : i1
      %p25 = arith.select %p24, %p24, %p24 : i1
      %p26 = arith.select %p25, %p25, %p25 : i1
      %p27 = arith.select %p26, %p26, %p26 : i1
      %p28 = arith.select %p27, %p27, %p27 : i1
      %p29 = arith.select %p28, %p28, %p28 : i1
      %p30 = arith.select %p29, %p29, %p29 : i1
      %p31 = arith.select %p30, %p30, %p30 : i1
      %p32 = arith.select %p31, %p31, %p31 : i1
      %p33 = arith.select %p32, %p32, %p32 : i1
      %p34 = arith.select %p33, %p33, %p33 : i1
      %p35 = arith.select %p34, %p34, %p34 : i1
      %p36 = arith.select %p35, %p35, %p35 : i1
      %p37 = arith.select %p36, %p36, %p36 : i1
      %p38 = arith.select %p37, %p37, %p37 : i1
      %p39 = arith.select %p38, %p38, %p38 : i1
      %p40 = arith.select %p39, %p39, %p39 : i1
      attn.yield %p40 : i1
    } : tensor<?x2x?x64xbf16>, tensor<?x2x?x64xbf16>, tensor<?x2x?x64xbf16> -> tensor<?x2x?x64xbf16>
  return %o : tensor<?x2x?x64xbf16>
}
