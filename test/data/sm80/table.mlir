// A mask as a table, read from row and column `first` on. Tokens in capitals are replaced by who reads this file.
func.func @table(%q: tensor<?xHQx?xDxTYPE>, %k: tensor<?xHKx?xDxTYPE>, %v: tensor<?xHKx?xDVxTYPE>, %table: tensor<?x?xi8> {attn.name = "table"},
    %first: i32 {attn.name = "first"}) -> (tensor<?xHQx?xDVxTYPE>, tensor<?xHQx?xf32>) {
  %o, %lse = attn.attention q(%q) k(%k) v(%v)
    mask (%b, %h, %i, %j) {
      %zero = arith.constant 0 : i8
      %x = arith.addi %i, %first : i32
      %y = arith.addi %j, %first : i32
      %t = attn.load %table[%x, %y] : tensor<?x?xi8>
      %c = arith.cmpi ne, %t, %zero : i8
      attn.yield %c : i1
    }
    : tensor<?xHQx?xDxTYPE>, tensor<?xHKx?xDxTYPE>, tensor<?xHKx?xDVxTYPE> -> tensor<?xHQx?xDVxTYPE>, tensor<?xHQx?xf32>
  return %o, %lse : tensor<?xHQx?xDVxTYPE>, tensor<?xHQx?xf32>
}
