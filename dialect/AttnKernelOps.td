//===- AttnKernelOps.td - operators on tiles: levels tiled to scheduled ---===//
#ifndef ATTN_KERNEL_OPS_TD
#define ATTN_KERNEL_OPS_TD

include "dialect/AttnSpecOps.td"
include "mlir/IR/SymbolInterfaces.td"

def Attn_KernelOp : Attn_Op<"kernel", [IsolatedFromAbove, Symbol, SingleBlock,
    NoTerminator, DeclareOpInterfaceMethods<OpAsmOpInterface, ["getAsmBlockArgumentNames"]>]> {
  let summary = "the program of one query tile";
  let description = [{
    A symbol whose body is run once for every query tile. Arguments are the
    inputs of the spec (q, k, v, captures), then, under `outs`, the outputs: o,
    then lse and the row maximum (with `row_max`) if asked for. `precision` and
    `schedule` appear as the passes decide them.

    ```mlir
    attn.kernel @name(%q: tensor<?x8x?x64xbf16>, ...) outs(%o: tensor<?x8x?x64xbf16>)
        attributes {arg_names = ["q", "k", "v", "o"]} { ... }
    ```
  }];
  let arguments = (ins SymbolNameAttr:$sym_name, StrArrayAttr:$arg_names,
                       I64Attr:$num_outputs, UnitAttr:$row_max,
                       OptionalAttr<Attn_PrecisionAttr>:$precision,
                       OptionalAttr<Attn_ScheduleAttr>:$schedule);
  let regions = (region SizedRegion<1>:$body);
  let hasCustomAssemblyFormat = 1;
  let hasVerifier = 1;
  let hasRegionVerifier = 1;
  let extraClassDeclaration = [{
    ::mlir::Block::BlockArgListType getArguments() { return getBody().getArguments(); }
    unsigned getNumInputs() { return getArguments().size() - getNumOutputs(); }
    ::mlir::BlockArgument getQ() { return getArguments()[0]; }
    ::mlir::BlockArgument getK() { return getArguments()[1]; }
    ::mlir::BlockArgument getV() { return getArguments()[2]; }
    ::mlir::BlockArgument getO() { return getArguments()[getNumInputs()]; }
    /// The lse output, or null.
    ::mlir::Value getLse() {
      return getNumOutputs() > (getRowMax() ? 2u : 1u)
                 ? ::mlir::Value(getArguments()[getNumInputs() + 1]) : nullptr;
    }
    /// The row maximum output, or null.
    ::mlir::Value getMax() {
      return getRowMax() ? ::mlir::Value(getArguments().back()) : nullptr;
    }
    /// The loop over key blocks; every verified kernel has one.
    ::qm::attn::KeyBlocksOp getKeyBlocks();
    /// Which tile this is, with the lengths of sequences; null: none asks.
    ::qm::attn::TilePositionOp getPosition();
  }];
}

def Attn_TilePositionOp : Attn_Op<"tile_position", [Pure,
    DeclareOpInterfaceMethods<OpAsmOpInterface, ["getAsmResultNames"]>]> {
  let summary = "which query tile this is";
  let description = [{
    Batch, query head and first query row of the tile. With lengths (see
    `attn.attention`) the batch is the number of the sequence, the row counts
    from its start, and so do the rows of every tile that is loaded or stored;
    tiles end where the sequence ends.

    ```mlir
    %b, %h, %i0 = attn.tile_position packed(%cu_q, %cu_kv)
    ```
  }];
  let arguments = (ins Variadic<Attn_Lengths>:$lengths, UnitAttr:$packed);
  let results = (outs I32:$batch, I32:$head, I32:$row);
  let assemblyFormat = "(custom<Lengths>($packed, $lengths)^)? attr-dict";
}

def Attn_LoadTileOp : Attn_Op<"load_tile", [Pure]> {
  let summary = "rows of q, k or v";
  let description = [{
    Rows `row`, `row + 1`, ... of `source[batch, head]`. Rows at or past the
    end read as 0 (and are not touched in memory).
  }];
  let arguments = (ins AnyRankedTensor:$source, I32:$batch, I32:$head, I32:$row);
  let results = (outs Attn_TileType:$tile);
  let assemblyFormat = [{
    $source `[` $batch `,` $head `,` $row `]` attr-dict `:` type($source) `->` qualified(type($tile))
  }];
  let hasVerifier = 1;
}

def Attn_FillOp : Attn_Op<"fill", [Pure]> {
  let summary = "a tile of one value";
  let description = "Every element of the tile is `value`.";
  let arguments = (ins F32Attr:$value);
  let results = (outs Attn_TileType:$tile);
  let assemblyFormat = "custom<PlainFloat>($value) attr-dict `:` qualified(type($tile))";
}

def Attn_KeyBlocksOp : Attn_Op<"key_blocks", [
    DeclareOpInterfaceMethods<OpAsmOpInterface, ["getAsmBlockArgumentNames"]>]> {
  let summary = "the loop over key blocks";
  let description = [{
    Runs `body` for the key blocks in ascending order, carrying tiles. The
    first block argument is the first key of the block. Keys at or past Skv do
    not exist: they get no weight and are not read.

    `classify`, if present, is the mask lifted to intervals: given inclusive
    ranges of query rows and keys it yields `any` (some pair may be kept) and
    `all` (every pair is kept for certain). Blocks without `any` are skipped;
    blocks with `all` run without `attn.mask`. Absent: every block is full.

    `bounds`, if present, is the mask solved for the key: given the tile's
    inclusive range of query rows it yields the first and the last key that may
    be kept (first > last: none). Blocks outside need not be looked at.
  }];
  let arguments = (ins Variadic<Attn_TileType>:$inits);
  let results = (outs Variadic<Attn_TileType>:$results);
  let regions = (region SizedRegion<1>:$body, AnyRegion:$classify,
                        AnyRegion:$bounds);
  let hasCustomAssemblyFormat = 1;
  let hasVerifier = 1;
  let hasRegionVerifier = 1;
}

def Attn_DotOp : Attn_Op<"dot", [Pure]> {
  let summary = "scores: Q times K transposed";
  let description = "Row i, column j of the result is the f32 dot product of row i of lhs and row j of rhs.";
  let arguments = (ins Attn_TileType:$lhs, Attn_TileType:$rhs);
  let results = (outs Attn_TileType:$result);
  let assemblyFormat = "$lhs `,` $rhs attr-dict `:` qualified(type($lhs)) `,` qualified(type($rhs)) `->` qualified(type($result))";
  let hasVerifier = 1;
}

def Attn_MapOp : Attn_Op<"map", [Pure, TypesMatchWith<"result is a tile like the operand", "tile",
    "result", "$_self">,
    DeclareOpInterfaceMethods<OpAsmOpInterface, ["getAsmBlockArgumentNames"]>]> {
  let summary = "an element-wise chain";
  let description = [{
    Each element e at query index i and key index j becomes what the region
    yields. `at` gives the indices of the tile's corner.
  }];
  let arguments = (ins Attn_TileType:$tile, I32:$row, I32:$column);
  let results = (outs Attn_TileType:$result);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = [{
    $tile `at` `[` $row `,` $column `]` custom<MapBody>($body) attr-dict `:` qualified(type($tile))
  }];
  let hasRegionVerifier = 1;
}

def Attn_MaskOp : Attn_Op<"mask", [Pure, TypesMatchWith<"result is a tile like the operand", "tile",
    "result", "$_self">,
    DeclareOpInterfaceMethods<OpAsmOpInterface, ["getAsmBlockArgumentNames"]>]> {
  let summary = "-inf where the user's mask is false";
  let description = [{
    The region takes query and key index and yields i1. It may be left out of
    blocks that `classify` calls full.
  }];
  let arguments = (ins Attn_TileType:$tile, I32:$row, I32:$column);
  let results = (outs Attn_TileType:$result);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = [{
    $tile `at` `[` $row `,` $column `]` custom<MaskBody>($body) attr-dict `:` qualified(type($tile))
  }];
  let hasRegionVerifier = 1;
}

def Attn_OnlineSoftmaxOp : Attn_Op<"online_softmax", [Pure]> {
  let summary = "one step of the running softmax";
  let description = [{
    With s, m, l: `m' = max(m, rowmax s)`, `alpha = e^(m - m')`,
    `p = e^(s - m')`, `l' = l alpha + rowsum p`; m' = -inf counts as 0 in the
    exponents. With `exp2_scale` c the exponents are `2^(c s - c m')` and
    `2^(c m - c m')`: c holds log2 e and any pure scale of the scores.
    `l'` sums p before it is rounded. With `bound` b every score that is not
    masked is known to lie in [-b, b], or to be NaN.
  }];
  let arguments = (ins Attn_TileType:$scores, Attn_TileType:$max,
                       Attn_TileType:$sum, OptionalAttr<F32Attr>:$exp2_scale,
                       OptionalAttr<F32Attr>:$bound);
  let results = (outs Attn_TileType:$new_max, Attn_TileType:$new_sum,
                      Attn_TileType:$p, Attn_TileType:$alpha);
  let assemblyFormat = [{
    $scores `,` $max `,` $sum (`exp2_scale` `(` custom<PlainFloat>($exp2_scale)^ `)`)?
    (`bound` `(` custom<PlainFloat>($bound)^ `)`)?
    attr-dict `:` qualified(type($scores)) `,` qualified(type($max)) `,` qualified(type($sum))
    `->` type(results)
  }];
  let hasVerifier = 1;
}

def Attn_CastOp : Attn_Op<"cast", [Pure]> {
  let summary = "a tile in another element type";
  let description = "Round to nearest even; exact where the type widens.";
  let arguments = (ins Attn_TileType:$tile);
  let results = (outs Attn_TileType:$result);
  let assemblyFormat = "$tile attr-dict `:` qualified(type($tile)) `to` qualified(type($result))";
  let hasVerifier = 1;
}

def Attn_AccumulateOp : Attn_Op<"accumulate", [Pure]> {
  let summary = "output: alpha times the accumulator plus P times V";
  let description = "`result = alpha * acc + p v`, each row with its alpha, in the accumulator's type.";
  let arguments = (ins Attn_TileType:$p, Attn_TileType:$v, Attn_TileType:$acc,
                       Attn_TileType:$alpha);
  let results = (outs Attn_TileType:$result);
  let assemblyFormat = [{
    $p `,` $v `into` $acc `scaled_by` $alpha attr-dict
    `:` qualified(type($p)) `,` qualified(type($v)) `,` qualified(type($acc)) `,` qualified(type($alpha)) `->` qualified(type($result))
  }];
  let hasVerifier = 1;
}

def Attn_NormalizeOp : Attn_Op<"normalize", [Pure]> {
  let summary = "output tile and statistics of the running softmax";
  let description = [{
    `o = acc / sum` (0 where the sum is 0); `lse = max + ln(sum)`, -inf where the
    sum is 0; `row_max = max`. With `exp2_scale` c (as in the softmax) the
    statistics are in natural units: `lse = c max ln 2 + ln(sum)`,
    `row_max = c max ln 2`.

    A `sink` region yields one more logit s, in natural units, the same for every
    row of the tile. With M = max(c max ln 2, s) it makes
    `sum' = sum e^(c max ln 2 - M) + e^(s - M)`, `o = acc e^(c max ln 2 - M) / sum'`
    and `lse = M + ln(sum')`; M = -inf counts as 0 in the exponents.

    ```mlir
    %o, %lse, %m = attn.normalize %acc by %sum max %max exp2_scale(1.442695) sink () {
      %s = attn.load %sinks[%h] : tensor<8xf32>
      attn.yield %s : f32
    } : !attn.tile<128x64xf32>, !attn.tile<128xf32>, !attn.tile<128xf32>
      -> !attn.tile<128x64xf32>, !attn.tile<128xf32>, !attn.tile<128xf32>
    ```
  }];
  let arguments = (ins Attn_TileType:$acc, Attn_TileType:$max,
                       Attn_TileType:$sum, OptionalAttr<F32Attr>:$exp2_scale);
  let results = (outs Attn_TileType:$o, Attn_TileType:$lse,
                      Optional<Attn_TileType>:$row_max);
  let regions = (region AnyRegion:$sink);
  let assemblyFormat = [{
    $acc `by` $sum `max` $max (`exp2_scale` `(` custom<PlainFloat>($exp2_scale)^ `)`)?
    (custom<TileSink>($sink)^)? attr-dict
    `:` qualified(type($acc)) `,` qualified(type($sum)) `,` qualified(type($max)) `->` type(results)
  }];
  let hasVerifier = 1;
  let hasRegionVerifier = 1;
}

def Attn_StoreTileOp : Attn_Op<"store_tile"> {
  let summary = "writes rows of an output";
  let description = "Rows at or past the end are not written; elements are rounded to the output's type.";
  let arguments = (ins Attn_TileType:$tile, AnyRankedTensor:$destination,
                       I32:$batch, I32:$head, I32:$row);
  let assemblyFormat = [{
    $tile `,` $destination `[` $batch `,` $head `,` $row `]` attr-dict
    `:` qualified(type($tile)) `,` type($destination)
  }];
  let hasVerifier = 1;
}

#endif // ATTN_KERNEL_OPS_TD
