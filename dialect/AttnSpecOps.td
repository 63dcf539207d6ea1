//===- AttnSpecOps.td - operators on tensors: levels spec and online ------===//
#ifndef ATTN_SPEC_OPS_TD
#define ATTN_SPEC_OPS_TD

include "dialect/AttnAttrs.td"
include "dialect/AttnTypes.td"
include "mlir/Interfaces/InferTypeOpInterface.td"
include "mlir/Interfaces/SideEffectInterfaces.td"
include "mlir/IR/OpAsmInterface.td"

def Attn_Operand : RankedTensorOf<[F16, BF16, F32]>;

/// One number a sequence: its length, or where it starts (and one more).
def Attn_Lengths : Type<
    CPred<"$_self == ::mlir::RankedTensorType::get({::mlir::ShapedType::kDynamic},"
          " ::mlir::IntegerType::get($_self.getContext(), 32))">,
    "tensor<?xi32>", "::mlir::RankedTensorType">,
  BuildableType<"::mlir::RankedTensorType::get({::mlir::ShapedType::kDynamic}, $_builder.getI32Type())">;

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

    `sink (%b, %h)`, if present, is one more logit of each row, without a value:
    its exponential joins the denominator, so that a row without kept keys gives
    O = 0 and lse = sink. With `row_max` the last result is the largest kept
    score of each row, `[B, Hq, Sq]` (-inf if there is none; the sink is none).

    `padded(%len_q, %len_kv)` gives each batch entry lengths of its own, at most
    Sq and Skv. `packed(%cu_q, %cu_kv)` says that sequences lie one after the
    other along the sequence dimension, batch extent 1: sequence b has the rows
    from `cu[b]` up to `cu[b + 1]`. In both, b is the number of the sequence, i
    and j count from its start, `attn.extent query` and `key` are its lengths and
    `batch` is the number of sequences. Rows outside of every sequence are
    neither read nor written.

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
                       Variadic<Attn_Lengths>:$lengths, UnitAttr:$packed,
                       OptionalAttr<F32Attr>:$scale, UnitAttr:$row_max);
  let results = (outs Attn_Operand:$o,
                      Variadic<RankedTensorOf<[F32]>>:$statistics);
  let regions = (region AnyRegion:$score, AnyRegion:$mask, AnyRegion:$sink);
  let assemblyFormat = [{
    `q` `(` $q `)` `k` `(` $k `)` `v` `(` $v `)` (custom<Lengths>($packed, $lengths)^)?
    (`scale` `(` custom<PlainFloat>($scale)^ `)`)?
    (`row_max` $row_max^)?
    custom<Modifiers>($score, $mask) (custom<Sink>($sink)^)? attr-dict
    `:` type($q) `,` type($k) `,` type($v) `->` type(results)
  }];
  let hasVerifier = 1;
  let hasRegionVerifier = 1;
  let extraClassDeclaration = [{
    /// The scale as written, or 1/sqrt(D).
    float getScaleOrDefault();
    /// The statistics by name, or null.
    ::mlir::Value getLse() {
      return getStatistics().size() > (getRowMax() ? 1u : 0u) ? getStatistics().front() : nullptr;
    }
    ::mlir::Value getMax() {
      return getRowMax() ? getStatistics().back() : nullptr;
    }
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
                       Variadic<Attn_Lengths>:$lengths, UnitAttr:$packed,
                       F32Attr:$scale);
  let results = (outs RankedTensorOf<[F32]>:$acc, RankedTensorOf<[F32]>:$max,
                      RankedTensorOf<[F32]>:$sum);
  let regions = (region AnyRegion:$score, AnyRegion:$mask);
  let assemblyFormat = [{
    `q` `(` $q `)` `k` `(` $k `)` `v` `(` $v `)` (custom<Lengths>($packed, $lengths)^)?
    `scale` `(` custom<PlainFloat>($scale) `)`
    custom<Modifiers>($score, $mask) attr-dict
    `:` type($q) `,` type($k) `,` type($v) `->` type(results)
  }];
  let hasVerifier = 1;
  let hasRegionVerifier = 1;
}

def Attn_NormalizeRowsOp : Attn_Op<"normalize_rows", [Pure,
    DeclareOpInterfaceMethods<OpAsmOpInterface, ["getAsmBlockArgumentNames"]>]> {
  let summary = "output and lse of a streaming result";
  let description = [{
    `o = acc / sum` (0 where the sum is 0), rounded to the element type of `o`;
    `lse = max + ln(sum)`, -inf where the sum is 0. A sink s adds e^s to the
    sum as if it had been counted with the keys; with `row_max` the last result
    is `max`, without the sink.
  }];
  let arguments = (ins RankedTensorOf<[F32]>:$acc, RankedTensorOf<[F32]>:$max,
                       RankedTensorOf<[F32]>:$sum, UnitAttr:$row_max);
  let results = (outs Attn_Operand:$o,
                      Variadic<RankedTensorOf<[F32]>>:$statistics);
  let regions = (region AnyRegion:$sink);
  let hasVerifier = 1;
  let hasRegionVerifier = 1;
  let assemblyFormat = [{
    $acc `max` $max `sum` $sum (`row_max` $row_max^)? (custom<Sink>($sink)^)? attr-dict
    `:` type($acc) `,` type($max) `,` type($sum) `->` type(results)
  }];
}

def Attn_LoadOp : Attn_Op<"load", [Pure]> {
  let summary = "one element of a captured buffer";
  let description = [{
    Each index is clamped to `[0, extent - 1]`: a gather cannot leave its
    buffer, on padded lanes either. Allowed in every region that computes
    scores, masks, ranges or sinks.

    `sorted`: the caller promises that elements do not decrease along the last
    dimension. Mask analysis then reads a range of elements off its ends. Where
    the promise is broken the mask may be taken for full or empty where it is
    not; nothing is read or written outside its tensor.

    ```mlir
    %bias = attn.load %table[%h, %j] : tensor<8x?xf32>
    %document = attn.load %ids[%b, %j] sorted : tensor<?x?xi32>
    ```
  }];
  let arguments = (ins AnyRankedTensor:$buffer, Variadic<I32>:$indices,
                       UnitAttr:$sorted);
  let results = (outs AnyType:$result);
  let assemblyFormat = [{
    $buffer `[` $indices `]` (`sorted` $sorted^)? attr-dict `:` custom<LoadTypes>(type($buffer), type($result))
  }];
  let hasVerifier = 1;
}

def Attn_SearchOp : Attn_Op<"search", [Pure]> {
  let summary = "where a value belongs in a sorted buffer";
  let description = [{
    The first index along the last dimension whose element is at least `value`
    (with `above`: greater than it), or 2^30 if there is none. Leading indices
    are clamped as in `attn.load`; elements are signed integers of 8, 16 or 32
    bits. In a buffer that is not sorted the result is some index of it or 2^30.
    Made by mask analysis, in `bounds` regions.

    ```mlir
    %first = attn.search %ids[%b] for %document : tensor<?x?xi32>
    %end = attn.search above %ids[%b] for %document : tensor<?x?xi32>
    ```
  }];
  let arguments = (ins AnyRankedTensor:$buffer, Variadic<I32>:$indices,
                       I32:$value, UnitAttr:$above);
  let results = (outs I32:$result);
  let assemblyFormat = [{
    (`above` $above^)? $buffer `[` $indices `]` `for` $value attr-dict `:` type($buffer)
  }];
  let hasVerifier = 1;
}

def Attn_ExtremaOp : Attn_Op<"extrema", [Pure]> {
  let summary = "the least and the greatest of a buffer's elements in a range";
  let description = [{
    Of the elements whose index along `dimension` lies between that of `indices`
    and `last`; all indices are clamped as in `attn.load`. Elements are signed
    integers of 8 to 64 bits, of which the low 32 count. A range of more than
    1024 elements is not read: the result is then the ends of the type. What an
    empty range gives is not said. Made by mask analysis, in `classify` and
    `bounds` regions; the kernel reads the elements when it comes to them.

    ```mlir
    %least, %greatest = attn.extrema %classes[%b, %jlo] to %jhi along 1 : tensor<?x?xi32>
    ```
  }];
  let arguments = (ins AnyRankedTensor:$buffer, Variadic<I32>:$indices,
                       I32:$last, I64Attr:$dimension);
  let results = (outs I32:$least, I32:$greatest);
  let assemblyFormat = [{
    $buffer `[` $indices `]` `to` $last `along` $dimension attr-dict `:` type($buffer)
  }];
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    /// A longer range is not read.
    static constexpr int64_t maxElements = 1024;
    unsigned getElementWidth() {
      return ::llvm::cast<::mlir::RankedTensorType>(getBuffer().getType())
          .getElementTypeBitWidth();
    }
    /// The result for a range that is not read.
    int64_t getTypeMinimum() { return -(int64_t(1) << (std::min(getElementWidth(), 32u) - 1)); }
    int64_t getTypeMaximum() { return -1 - getTypeMinimum(); }
  }];
}

def Attn_ExtentOp : Attn_Op<"extent", [Pure]> {
  let summary = "an extent of the call";
  let description = [{
    `batch`, `heads` (query heads), `kv_heads`, `query` (Sq) or `key` (Skv). With
    lengths: the number of sequences for `batch`, the lengths of the region's
    sequence for `query` and `key`.

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
