// The masks and scores of test/data/k4.json and uniform_probe.json as MLIR, for
// the oracle and for the CPU path.
#pragma once

namespace qm::test {

/// One row of k4.json: scale, and score and mask clauses of attn.attention.
struct K4Case {
  const char *name, *scale, *modifiers;
};

inline constexpr const char *biasHalfDistance = R"(score (%s, %b, %h, %i, %j) {
    %d = arith.subi %j, %i : i32
    %f = arith.sitofp %d : i32 to f32
    %c = arith.constant 0.5 : f32
    %p = arith.mulf %f, %c : f32
    %t = arith.addf %s, %p : f32
    attn.yield %t : f32
  } mask (%b, %h, %i, %j) { %c = arith.cmpi sge, %i, %j : i32
    attn.yield %c : i1 })";

inline constexpr K4Case k4Cases[] = {
    {"full", "1.0", ""},
    {"causal", "1.0",
     "mask (%b, %h, %i, %j) { %c = arith.cmpi sge, %i, %j : i32\n"
     "attn.yield %c : i1 }"},
    {"causal_scale_quarter", "0.25",
     "mask (%b, %h, %i, %j) { %c = arith.cmpi sge, %i, %j : i32\n"
     "attn.yield %c : i1 }"},
    {"causal_softcap_1", "1.0",
     "score (%s, %b, %h, %i, %j) { %t = math.tanh %s : f32\n"
     "attn.yield %t : f32 }"
     "mask (%b, %h, %i, %j) { %c = arith.cmpi sge, %i, %j : i32\n"
     "attn.yield %c : i1 }"},
    {"causal_bias_half_distance", "1.0", biasHalfDistance},
    {"full_bias_minus_half_abs_distance", "1.0",
     "score (%s, %b, %h, %i, %j) { %d = arith.subi %j, %i : i32\n"
     "%a = math.absi %d : i32\n %f = arith.sitofp %a : i32 to f32\n"
     "%c = arith.constant -0.5 : f32\n %p = arith.mulf %f, %c : f32\n"
     "%t = arith.addf %s, %p : f32\n attn.yield %t : f32 }"},
    {"causal_times_two", "2.0",
     "mask (%b, %h, %i, %j) { %c = arith.cmpi sge, %i, %j : i32\n"
     "attn.yield %c : i1 }"},
    {"row_1_empty", "1.0",
     "mask (%b, %h, %i, %j) { %one = arith.constant 1 : i32\n"
     "%c = arith.cmpi ne, %i, %one : i32\n attn.yield %c : i1 }"},
    {"window_1_0", "1.0",
     "mask (%b, %h, %i, %j) { %d = arith.subi %i, %j : i32\n"
     "%one = arith.constant 1 : i32\n"
     "%c = arith.cmpi ule, %d, %one : i32\n attn.yield %c : i1 }"},
};

/// One row of uniform_probe.json: the ops of a mask over %i and %j that end in
/// %c; document ids 1 1 2 4 4 4 are in %doc.
struct ProbeCase {
  const char *name, *mask;
};

inline constexpr ProbeCase probeCases[] = {
    {"causal", "%c = arith.cmpi sge, %i, %j : i32"},
    {"causal_top_left", "%c = arith.cmpi sge, %i, %j : i32"},
    {"causal_bottom_right",
     "%sk = attn.extent key : i32\n %sq = attn.extent query : i32\n"
     "%d = arith.subi %sk, %sq : i32\n %p = arith.addi %i, %d : i32\n"
     "%c = arith.cmpi sge, %p, %j : i32"},
    {"causal_bottom_right_5x2",
     "%sk = attn.extent key : i32\n %sq = attn.extent query : i32\n"
     "%d = arith.subi %sk, %sq : i32\n %p = arith.addi %i, %d : i32\n"
     "%c = arith.cmpi sge, %p, %j : i32"},
    {"window_2_0",
     "%d = arith.subi %i, %j : i32\n %w = arith.constant 2 : i32\n"
     "%c = arith.cmpi ule, %d, %w : i32"},
    {"window_1_1", "%d = arith.subi %i, %j : i32\n %a = math.absi %d : i32\n"
                   "%w = arith.constant 1 : i32\n"
                   "%c = arith.cmpi sle, %a, %w : i32"},
    {"prefix_3", "%p = arith.constant 3 : i32\n"
                 "%x = arith.cmpi slt, %j, %p : i32\n"
                 "%y = arith.cmpi sge, %i, %j : i32\n"
                 "%c = arith.ori %x, %y : i1"},
    {"document_causal_lens_0_2_1_0_3",
     "%x = attn.load %doc[%i] : tensor<?xi32>\n"
     "%y = attn.load %doc[%j] : tensor<?xi32>\n"
     "%same = arith.cmpi eq, %x, %y : i32\n"
     "%past = arith.cmpi sge, %i, %j : i32\n"
     "%c = arith.andi %same, %past : i1"},
    {"dilated_4_2",
     "%d = arith.subi %i, %j : i32\n %a = math.absi %d : i32\n"
     "%w = arith.constant 4 : i32\n %r = arith.constant 2 : i32\n"
     "%z = arith.constant 0 : i32\n %m = arith.remsi %a, %r : i32\n"
     "%x = arith.cmpi sle, %a, %w : i32\n %y = arith.cmpi eq, %m, %z : i32\n"
     "%c = arith.andi %x, %y : i1"},
    {"decode_bottom_right_window_2_0",
     "%sk = attn.extent key : i32\n %sq = attn.extent query : i32\n"
     "%e = arith.subi %sk, %sq : i32\n %p = arith.addi %i, %e : i32\n"
     "%d = arith.subi %p, %j : i32\n %w = arith.constant 2 : i32\n"
     "%c = arith.cmpi ule, %d, %w : i32"},
    {"natten_4x4_3",
     "%four = arith.constant 4 : i32\n %one = arith.constant 1 : i32\n"
     "%two = arith.constant 2 : i32\n"
     "%ri = arith.divui %i, %four : i32\n %ci = arith.remui %i, %four : i32\n"
     "%rj = arith.divui %j, %four : i32\n %cj = arith.remui %j, %four : i32\n"
     "%r0 = arith.maxsi %ri, %one : i32\n %r1 = arith.minsi %r0, %two : i32\n"
     "%c0 = arith.maxsi %ci, %one : i32\n %c1 = arith.minsi %c0, %two : i32\n"
     "%dr = arith.subi %r1, %rj : i32\n %ar = math.absi %dr : i32\n"
     "%dc = arith.subi %c1, %cj : i32\n %ac = math.absi %dc : i32\n"
     "%x = arith.cmpi sle, %ar, %one : i32\n"
     "%y = arith.cmpi sle, %ac, %one : i32\n %c = arith.andi %x, %y : i1"},
};

} // namespace qm::test
