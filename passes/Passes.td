//===- Passes.td - target-independent passes, in the order they run -------===//
#ifndef QM_PASSES_TD
#define QM_PASSES_TD

include "mlir/Pass/PassBase.td"

def WarnEmptyMask : Pass<"qm-warn-empty-mask", "::mlir::func::FuncOp"> {
  let summary = "spec to spec: a warning for a mask that keeps nothing";
  let description = [{
    Before and after, with the warning QM0307:
    ```mlir
    mask (%b, %h, %i, %j) {
      %later = arith.cmpi slt, %i, %j : i32
      %earlier = arith.cmpi sgt, %i, %j : i32
      %both = arith.andi %later, %earlier : i1
      attn.yield %both : i1
    }
    ```
    Alternatives of linear conditions are looked at one by one; a mask that is
    empty for another reason, or for some lengths only, gets no warning.
  }];
  let dependentDialects = ["::qm::attn::AttnDialect"];
}

def ToOnline : Pass<"qm-to-online", "::mlir::func::FuncOp"> {
  let summary = "spec to online: the streaming form of attention";
  let description = [{
    Before:
    ```mlir
    %o, %lse = attn.attention q(%q) k(%k) v(%v) : ... -> tensor<?x8x?x64xbf16>, tensor<?x8x?xf32>
    ```
    After:
    ```mlir
    %acc, %max, %sum = attn.online q(%q) k(%k) v(%v) scale(0.125) : ...
    %o, %lse = attn.normalize_rows %acc max %max sum %sum : ...
    ```
    The scale, 1/sqrt(D) unless given, becomes a number.
  }];
  let dependentDialects = ["::qm::attn::AttnDialect"];
  let statistics = [Statistic<"numRewritten", "rewritten", "attention operators rewritten">];
}

def TileAttention : Pass<"qm-tile-attention", "::mlir::ModuleOp"> {
  let summary = "online to tiled: one query tile's program";
  let description = [{
    Replaces a function that holds `attn.online` and `attn.normalize_rows` by an
    `attn.kernel`: the loop over key blocks, the products, the scale, the score
    modifier as `attn.map`, the mask as `attn.mask`, running statistics, the
    kv head of grouped heads as arithmetic. Tile extents stay `?`.

    Before:
    ```mlir
    func.func @f(%q: ..., %k: ..., %v: ...) -> ... {
      %acc, %max, %sum = attn.online q(%q) k(%k) v(%v) scale(0.125) mask (%b, %h, %i, %j) {...} : ...
      ...
    ```
    After:
    ```mlir
    attn.kernel @f(%q: ..., %k: ..., %v: ...) outs(%o: ...) attributes {...} {
      %b, %h, %i0 = attn.tile_position
      %r:3 = attn.key_blocks (%j0) iter(...) : ... {
        %s = attn.dot ...
        %x = attn.map %s at [%i0, %j0] (%s, %i, %j) {...}
        %y = attn.mask %x at [%i0, %j0] (%i, %j) {...}
        ...
    ```
  }];
  let dependentDialects = ["::qm::attn::AttnDialect"];
  let statistics = [Statistic<"numKernels", "kernels", "kernels made">];
}

def LiftMask : Pass<"qm-lift-mask", "::qm::attn::KernelOp"> {
  let summary = "tiled to tiled: classify key blocks by interval arithmetic on the mask";
  let description = [{
    Evaluates the mask region on inclusive ranges of query rows and keys
    instead of single indices: integers become (lo, hi), booleans (can be true,
    can be false). The result is the `classify` region of `attn.key_blocks`:
    skip the block, run it without the mask, or run it with the mask. Sound for
    every mask; README.md beside this file says how, and what is exact.

    Before:
    ```mlir
    %y = attn.mask %x at [%i0, %j0] (%i, %j) {
      %c = arith.cmpi sge, %i, %j : i32
      attn.yield %c : i1
    }
    ```
    After, on the loop that holds it:
    ```mlir
    } classify (%ilo, %ihi, %jlo, %jhi) {
      %any = arith.cmpi sge, %ihi, %jlo : i32
      %all = arith.cmpi sge, %ilo, %jhi : i32
      attn.yield %any, %all : i1, i1
    }
    ```
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect"];
  let statistics = [Statistic<"numLifted", "lifted", "masks lifted">,
                    Statistic<"numUnknown", "unknown", "operations of a mask that no interval rule covers">];
}

def BoundKeys : Pass<"qm-bound-keys", "::qm::attn::KernelOp"> {
  let summary = "tiled to tiled: closed-form range of keys for affine masks";
  let description = [{
    Solves the mask for the key: comparisons that are affine in it (or in its
    floor division by a constant) give a first and a last key that some row of
    the tile may keep; and, or, not and select combine them. The loop over key
    blocks need not look outside. Masks that cannot be solved get no `bounds`
    and are found by `classify` alone.

    Before: as for qm-lift-mask. After, on the loop, for a causal window w:
    ```mlir
    } bounds (%ilo, %ihi) {
      %first = arith.subi %ilo, %w : i32
      attn.yield %first, %ihi : i32, i32
    }
    ```
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect"];
  let statistics = [Statistic<"numBounded", "bounded", "loops bounded">];
}

def FuseModifiers : Pass<"qm-fuse-modifiers", "::qm::attn::KernelOp"> {
  let summary = "tiled to fused: one element-wise chain, exponents in base 2";
  let description = [{
    Merges consecutive `attn.map` operations into one, moves a positive constant
    factor at the end of the chain into the exponent's scale together with
    log2 e, and drops a chain that is empty after that. The score's factor in a
    sum leaves it too: `scale s + t` becomes `s + t / scale`. NUMERICS: the
    exponent is base 2 from here on.

    Before:
    ```mlir
    %x = attn.map %s at [%i0, %j0] (%e, %i, %j) { ... arith.mulf %e, %scale ... }
    %m, %l, %p, %alpha = attn.online_softmax %x, ...
    ```
    After:
    ```mlir
    %m, %l, %p, %alpha = attn.online_softmax %s, ... exp2_scale(0.180336878)
    ```
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect"];
  let statistics = [Statistic<"numFused", "fused", "maps merged or absorbed">];
}

def BoundScores : Pass<"qm-bound-scores", "::qm::attn::KernelOp"> {
  let summary = "fused to fused: how large scores can become";
  let description = [{
    Follows the floats of the score function as ranges. Where tanh or a clamp
    keeps scores in [-b, b] whatever the products are, the softmax says so: a
    machine may then leave the running maximum out, because no exponential can
    overflow.

    Before:
    ```mlir
    %x = attn.map %s at [%i0, %j0] (%e, %i, %j) { ... %t = math.tanh %u : f32 ... attn.yield %t }
    %m, %l, %p, %alpha = attn.online_softmax %x, ... exp2_scale(43.28)
    ```
    After:
    ```mlir
    %m, %l, %p, %alpha = attn.online_softmax %x, ... exp2_scale(43.28) bound(1.0)
    ```
  }];
  let statistics = [Statistic<"numBounded", "bounded", "softmaxes of bounded scores">];
}

def ReduceDivision : Pass<"qm-reduce-division", "::qm::attn::KernelOp"> {
  let summary = "fused to fused: division by powers of two as shifts";
  let description = [{
    Floor division by 2^n is an arithmetic shift, and what it leaves a bit mask,
    for negative numbers as well. Later passes see at a glance which indices
    share a quotient.

    Before: `%q = arith.floordivsi %j, %c128 : i32`. After:
    `%q = arith.shrsi %j, %c7 : i32`.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect"];
  let statistics = [Statistic<"numReduced", "reduced", "operations replaced">];
}

def GuardDivision : Pass<"qm-guard-division", "::qm::attn::KernelOp"> {
  let summary = "fused to fused: integer division by zero yields 0";
  let description = [{
    Integer division and remainder are undefined for a divisor of 0 (and for
    INT_MIN / -1), and trap on a CPU. Where the divisor is not a constant other
    than 0 and -1, the operation runs with a safe divisor and its result is
    chosen: 0 for a divisor of 0; for -1 the negated dividend or remainder 0.

    Before: `%r = arith.divsi %a, %n : i32`. After:
    ```mlir
    %safe = arith.select %special, %c1, %n : i32
    %q = arith.divsi %a, %safe : i32
    ...
    ```
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect"];
  let statistics = [Statistic<"numGuarded", "guarded", "divisions guarded">];
}

def AssignPrecision : Pass<"qm-assign-precision", "::qm::attn::KernelOp"> {
  let summary = "fused to typed: the element type of everything";
  let description = [{
    Writes `#attn.precision` and the casts that it means. By default operands
    keep the input type, scores, statistics and accumulation are f32, and P is
    rounded to the input type. NUMERICS: this pass decides rounding.

    Before: `%a2 = attn.accumulate %p, %v into %acc ...` with P in f32. After:
    ```mlir
    %pb = attn.cast %p : !attn.tile<?x?xf32> to !attn.tile<?x?xbf16>
    %a2 = attn.accumulate %pb, %v into %acc ...
    ```
  }];
  let options = [ListOption<"overrides", "set", "std::string",
      "precision.FIELD=TYPE; other parts are ignored">];
  let dependentDialects = ["::qm::attn::AttnDialect"];
}

def ChooseSchedule : Pass<"qm-choose-schedule", "::qm::attn::KernelOp"> {
  let summary = "typed to scheduled: tile, warps and stages for a target";
  let description = [{
    Picks tile, warps and stages from the target model (shared memory,
    registers, occupancy; vector registers and cache on a CPU), writes
    `#attn.schedule`, and replaces `?` in tile types by the numbers.

    Before: `!attn.tile<?x64xbf16>`. After, for sm_80:
    `!attn.tile<128x64xbf16>` and
    `schedule = #attn.schedule<target = "sm_80", tile_m = 128, tile_n = 64, warps = 4, stages = 2>`.
  }];
  let options = [
    Option<"target", "target", "std::string", "\"cpu\"", "a name of lowering/common/TargetInfo">,
    ListOption<"overrides", "set", "std::string",
      "schedule.FIELD=NUMBER; other parts are ignored">];
  let dependentDialects = ["::qm::attn::AttnDialect"];
}

#endif // QM_PASSES_TD
