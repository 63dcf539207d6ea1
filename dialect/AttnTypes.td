//===- AttnTypes.td - the tile type ---------------------------------------===//
#ifndef ATTN_TYPES_TD
#define ATTN_TYPES_TD

include "dialect/AttnDialect.td"
include "mlir/IR/AttrTypeBase.td"

def Attn_TileType : TypeDef<Attn_Dialect, "Tile"> {
  let mnemonic = "tile";
  let summary = "a tile of values, one number a row or one row a row";
  let description = [{
    `!attn.tile<128x64xbf16>` has 128 rows of 64; `!attn.tile<128xf32>` is one
    statistic a row. `?` is an extent that ChooseSchedule has yet to fill in:
    the rows of the query tile or the keys of a block.
  }];
  let parameters = (ins ArrayRefParameter<"int64_t">:$shape,
                        "::mlir::Type":$elementType);
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
  let extraClassDeclaration = [{
    unsigned getRank() const { return getShape().size(); }
    int64_t getRows() const { return getShape().front(); }
    int64_t getColumns() const { return getRank() == 2 ? getShape()[1] : 1; }
    TileType withElementType(::mlir::Type type) const {
      return get(getContext(), getShape(), type);
    }
    TileType withShape(::llvm::ArrayRef<int64_t> shape) const {
      return get(getContext(), shape, getElementType());
    }
  }];
}

#endif // ATTN_TYPES_TD
