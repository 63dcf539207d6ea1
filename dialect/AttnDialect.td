//===- AttnDialect.td - the attn dialect ----------------------------------===//
#ifndef ATTN_DIALECT_TD
#define ATTN_DIALECT_TD

include "mlir/IR/OpBase.td"

def Attn_Dialect : Dialect {
  let name = "attn";
  let cppNamespace = "::qm::attn";
  let summary = "Attention operators from tensors down to scheduled tiles";
  let description = [{
    One dialect for six levels of one program: an attention operator on tensors
    (spec), its streaming form (online), one query tile's program (tiled), with
    the element-wise chain fused (fused), element types decided (typed), and a
    schedule for a target (scheduled). README.md beside this file shows each.
  }];
  let useDefaultTypePrinterParser = 1;
  let useDefaultAttributePrinterParser = 1;
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::math::MathDialect"];
}

class Attn_Op<string mnemonic, list<Trait> traits = []>
    : Op<Attn_Dialect, mnemonic, traits>;

#endif // ATTN_DIALECT_TD
