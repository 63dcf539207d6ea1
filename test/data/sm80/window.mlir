// Causal sliding window of a run-time width. Tokens in capitals are replaced by who reads this file.
func.func @window(%q: tensor<?xHQx?xDxTYPE>, %k: tensor<?xHKx?xDxTYPE>, %v: tensor<?xHKx?xDVxTYPE>, %width: i32 {attn.name = "width"})
    -> (tensor<?xHQx?xDVxTYPE>, tensor<?xHQx?xf32>) {
  %o, %lse = attn.attention q(%q) k(%k) v(%v)
    mask (%b, %h, %i, %j) {
      %c = arith.cmpi sge, %i, %j : i32
      %d = arith.subi %i, %j : i32
      %w = arith.cmpi sle, %d, %width : i32
      %k2 = arith.andi %c, %w : i1
      attn.yield %k2 : i1
    }
    : tensor<?xHQx?xDxTYPE>, tensor<?xHKx?xDxTYPE>, tensor<?xHKx?xDVxTYPE> -> tensor<?xHQx?xDVxTYPE>, tensor<?xHQx?xf32>
  return %o, %lse : tensor<?xHQx?xDVxTYPE>, tensor<?xHQx?xf32>
}
