//===- AttnAttrs.td - decisions as attributes -----------------------------===//
#ifndef ATTN_ATTRS_TD
#define ATTN_ATTRS_TD

include "dialect/AttnDialect.td"
include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/EnumAttr.td"

def Attn_PrecisionAttr : AttrDef<Attn_Dialect, "Precision"> {
  let mnemonic = "precision";
  let summary = "the element type of every operand, product and statistic";
  let description = [{
    Written by AssignPrecision. `qk` and `pv` are the operand types of the two
    products, `p` the type that probabilities are rounded to, `score`, `stat`
    and `acc` the types of scores, of row maximum and sum, and of the
    accumulator. `--set precision.p=f32` overrides one field.
  }];
  let parameters = (ins "::mlir::Type":$qk, "::mlir::Type":$pv,
                        "::mlir::Type":$p, "::mlir::Type":$score,
                        "::mlir::Type":$stat, "::mlir::Type":$acc);
  let assemblyFormat = "`<` struct(params) `>`";
}

def Attn_ScheduleAttr : AttrDef<Attn_Dialect, "Schedule"> {
  let mnemonic = "schedule";
  let summary = "how a kernel runs on a target";
  let description = [{
    Written by ChooseSchedule from the target model; `--set schedule.tile_n=32`
    overrides one field.

    * `target`: a name in `lowering/common/TargetInfo`;
    * `tile_m`: query rows of a tile; `tile_n`: keys of a block;
    * `warps`: warps of a CTA (1 on a CPU);
    * `stages`: key and value blocks in flight (1 on a CPU);
    * `micro_m`, `micro_n`: the register tile of a CPU product: query lanes by
      keys or output columns; on sm_75, query rows and keys that a warp has of
      a block (0 on later GPUs);
    * `one_loop`: with mma.sync, 1 if full and masked key blocks share the code
      of one loop, 0 if runs of full blocks have a loop of their own (faster,
      twice the code);

    On Hopper a CTA is one warpgroup that loads and `consumers` that compute,
    64 query rows each (0: no roles), and

    * `query_buffers`: query tiles in shared memory; with 2 the next tile's
      scores are under way while this tile ends;
    * `producer_registers`, `consumer_registers`: a thread's, after setmaxnreg;
    * `ping_pong`: 1 if two consumers issue their products in turns;
    * `persistent`: 1 if a CTA runs tile after tile, one CTA a multiprocessor;
    * `dynamic_order`: 1 if CTAs take their next tile from a counter at run time;
    * `poly_exp2`: how many of 16 exponentials of bounded scores are a polynomial
      on the FMA units instead of a special function.
  }];
  let parameters = (ins StringRefParameter<"target name">:$target,
                        "int64_t":$tile_m, "int64_t":$tile_n,
                        "int64_t":$warps, "int64_t":$stages,
                        DefaultValuedParameter<"int64_t", "0">:$micro_m,
                        DefaultValuedParameter<"int64_t", "0">:$micro_n,
                        DefaultValuedParameter<"int64_t", "0">:$consumers,
                        DefaultValuedParameter<"int64_t", "0">:$query_buffers,
                        DefaultValuedParameter<"int64_t", "0">:$producer_registers,
                        DefaultValuedParameter<"int64_t", "0">:$consumer_registers,
                        DefaultValuedParameter<"int64_t", "0">:$ping_pong,
                        DefaultValuedParameter<"int64_t", "0">:$persistent,
                        DefaultValuedParameter<"int64_t", "0">:$dynamic_order,
                        DefaultValuedParameter<"int64_t", "0">:$one_loop,
                        DefaultValuedParameter<"int64_t", "0">:$poly_exp2);
  let assemblyFormat = "`<` struct(params) `>`";
}

def Attn_Extent : I32EnumAttr<"Extent", "an extent of the call", [
    I32EnumAttrCase<"Batch", 0, "batch">, I32EnumAttrCase<"Heads", 1, "heads">,
    I32EnumAttrCase<"KvHeads", 2, "kv_heads">,
    I32EnumAttrCase<"Query", 3, "query">, I32EnumAttrCase<"Key", 4, "key">]> {
  let cppNamespace = "::qm::attn";
  let genSpecializedAttr = 0;
}
def Attn_ExtentAttr : EnumAttr<Attn_Dialect, Attn_Extent, "extent_kind"> {
  let assemblyFormat = "$value";
}

#endif // ATTN_ATTRS_TD
