// RUN: qm-opt %s --qm-compile="target=sm_90a" --qm-lower-to-sm90 | FileCheck %s

// A mask of packed bits: one bit a pair, 32 keys a word, and below the diagonal.

// A step on a block that the mask cuts: before it waits for its turn it reads the bits of its two rows, 16 bytes each where they lie
// so in memory, else word by word, each index clamped.
// CHECK: setmaxnreg.inc
// CHECK: wgmma.wait_group.sync.aligned 1
// CHECK: scf.if
// CHECK-COUNT-2: llvm.load {{.*}} -> vector<4xi32>
// CHECK: } else {
// CHECK-COUNT-8: llvm.load {{.*}} -> i32
// CHECK: bar.sync $0, 256
// CHECK: wgmma.commit_group
// CHECK: wgmma.wait_group.sync.aligned 1

// Nothing is selected where a vote finds every bit set, and nothing else asked where the other conditions hold for the whole block.
// CHECK: vote.sync any
// CHECK: scf.if
// CHECK: vote.sync any
// CHECK: scf.if
// CHECK: shl.b32
// CHECK-COUNT-64: arith.select {{.*}} : f32
func.func @bits(%q: tensor<?x4x?x128xbf16>, %k: tensor<?x4x?x128xbf16>, %v: tensor<?x4x?x128xbf16>, %words: tensor<?x?xi32> {attn.name = "words"}) -> tensor<?x4x?x128xbf16> {
  %o = attn.attention q(%q) k(%k) v(%v)
    mask (%b, %h, %i, %j) {
      %c1 = arith.constant 1 : i32
      %c5 = arith.constant 5 : i32
      %c31 = arith.constant 31 : i32
      %number = arith.shrsi %j, %c5 : i32
      %word = attn.load %words[%i, %number] : tensor<?x?xi32>
      %place = arith.andi %j, %c31 : i32
      %shifted = arith.shrsi %word, %place : i32
      %bit = arith.andi %shifted, %c1 : i32
      %set = arith.cmpi eq, %bit, %c1 : i32
      %causal = arith.cmpi sge, %i, %j : i32
      %keep = arith.andi %set, %causal : i1
      attn.yield %keep : i1
    } : tensor<?x4x?x128xbf16>, tensor<?x4x?x128xbf16>, tensor<?x4x?x128xbf16> -> tensor<?x4x?x128xbf16>
  return %o : tensor<?x4x?x128xbf16>
}
