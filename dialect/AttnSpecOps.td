//===- AttnSpecOps.td - operators on tensors: levels spec and online ------===//
#ifndef ATTN_SPEC_OPS_TD
#define ATTN_SPEC_OPS_TD

include "dialect/AttnAttrs.td"
include "dialect/AttnTypes.td"
include "mlir/Interfaces/InferTypeOpInterface.td"
include "mlir/Interfaces/SideEffectInterfaces.td"
include "mlir/IR/OpAsmInterface.td"

def Attn_Operand : RankedTensorOf<[F16, BF16, F32]>;

def Attn_AttentionOp : Attn_Op<"attention", [Pure,
    DeclareOpInterfaceMethods<OpAsmOpInterface, ["getAsmBlockArgumentNames"]>]> {
  let summary = "attention with a score modifier and a mask";
  let description = [{
    `t = score(scale * q.k, b, h, i, j)`; -inf where `mask(b, h, i, j)` is
    false; softmax over j; times V. Shapes are q `[B, Hq, Sq, D]`,
    k `[B, Hkv, Skv, D]`, v `[B, Hkv, Skv, Dv]`, o `[B, Hq, Sq, Dv]`,
    lse `[B, Hq, Sq]` (natural logarithm, optional). Query head h reads
    key/value head `h / (Hq / Hkv)`. A row with no kept key gives O = 0 and
    lse = -inf. `scale` defaults to 1/sqrt(D). Regions use captured function
    arguments directly.

    ```mlir
    %o = attn.attention q(%q) k(%k) v(%v) scale(0.125)
      mask (%b, %h, %i, %j) {
        %keep = arith.cmpi sge, %i, %j : i32
        attn.yield %keep : i1
      } : tensor<?x8x?x64xbf16>, tensor<?x8x?x64xbf16>, tensor<?x8x?x64xbf16>
        -> tensor<?x8x?x64xbf16>
    ```
  }];
  let arguments = (ins Attn_Operand:$q, Attn_Operand:$k, Attn_Operand:$v,
                       OptionalAttr<F32Attr>:$scale);
  let results = (outs Attn_Operand:$o, Optional<RankedTensorOf<[F32]>>:$lse);
  let regions = (region AnyRegion:$score, AnyRegion:$mask);
  let assemblyFormat = [{
    `q` `(` $q `)` `k` `(` $k `)` `v` `(` $v `)` (`scale` `(` custom<PlainFloat>($scale)^ `)`)?
    custom<Modifiers>($score, $mask) attr-dict
    `:` type($q) `,` type($k) `,` type($v) `->` type(results)
  }];
  let hasVerifier = 1;
  let hasRegionVerifier = 1;
  let extraClassDeclaration = [{
    /// The scale as written, or 1/sqrt(D).
    float getScaleOrDefault();
  }];
}

def Attn_OnlineOp : Attn_Op<"online", [Pure,
    DeclareOpInterfaceMethods<OpAsmOpInterface, ["getAsmBlockArgumentNames"]>]> {
  let summary = "attention in its streaming form";
  let description = [{
    Same operands and regions as `attn.attention`. The results are what a pass
    over the keys carries: the unnormalised accumulator `[B, Hq, Sq, Dv]`, the
    running row maximum and the running row sum `[B, Hq, Sq]`, in f32.
  }];
  let arguments = (ins Attn_Operand:$q, Attn_Operand:$k, Attn_Operand:$v,
                       F32Attr:$scale);
  let results = (outs RankedTensorOf<[F32]>:$acc, RankedTensorOf<[F32]>:$max,
                      RankedTensorOf<[F32]>:$sum);
  let regions = (region AnyRegion:$score, AnyRegion:$mask);
  let assemblyFormat = [{
    `q` `(` $q `)` `k` `(` $k `)` `v` `(` $v `)` `scale` `(` custom<PlainFloat>($scale) `)`
    custom<Modifiers>($score, $mask) attr-dict
    `:` type($q) `,` type($k) `,` type($v) `->` type(results)
  }];
  let hasVerifier = 1;
  let hasRegionVerifier = 1;
}

def Attn_NormalizeRowsOp : Attn_Op<"normalize_rows", [Pure]> {
  let summary = "output and lse of a streaming result";
  let description = [{
    `o = acc / sum` (0 where the sum is 0), rounded to the element type of `o`;
    `lse = max + ln(sum)`, -inf where the sum is 0.
  }];
  let arguments = (ins RankedTensorOf<[F32]>:$acc, RankedTensorOf<[F32]>:$max,
                       RankedTensorOf<[F32]>:$sum);
  let results = (outs Attn_Operand:$o, Optional<RankedTensorOf<[F32]>>:$lse);
  let assemblyFormat = [{
    $acc `max` $max `sum` $sum attr-dict
    `:` type($acc) `,` type($max) `,` type($sum) `->` type(results)
  }];
}

def Attn_LoadOp : Attn_Op<"load", [Pure]> {
  let summary = "one element of a captured buffer";
  let description = [{
    Each index is clamped to `[0, extent - 1]`: a gather cannot leave its
    buffer, on padded lanes either. Allowed in score, mask, map and classify
    regions.

    ```mlir
    %bias = attn.load %table[%h, %j] : tensor<8x?xf32>
    ```
  }];
  let arguments = (ins AnyRankedTensor:$buffer, Variadic<I32>:$indices);
  let results = (outs AnyType:$result);
  let assemblyFormat = [{
    $buffer `[` $indices `]` attr-dict `:` custom<LoadTypes>(type($buffer), type($result))
  }];
  let hasVerifier = 1;
}

def Attn_ExtentOp : Attn_Op<"extent", [Pure]> {
  let summary = "an extent of the call";
  let description = [{
    `batch`, `heads` (query heads), `kv_heads`, `query` (Sq) or `key` (Skv).

    ```mlir
    %skv = attn.extent key : i32
    ```
  }];
  let arguments = (ins Attn_ExtentAttr:$kind);
  let results = (outs I32:$result);
  let assemblyFormat = "$kind attr-dict `:` type($result)";
}

def Attn_YieldOp : Attn_Op<"yield", [Pure, Terminator]> {
  let summary = "ends a region of the attn dialect";
  let description = "Returns the values of a region to the op that holds it.";
  let arguments = (ins Variadic<AnyType>:$values);
  let assemblyFormat = "($values^ `:` type($values))? attr-dict";
}

#endif // ATTN_SPEC_OPS_TD
