// Causal, aligned at the bottom right. Tokens in capitals are replaced by who reads this file.
func.func @causal_br(%q: tensor<?xHQx?xDxTYPE>, %k: tensor<?xHKx?xDxTYPE>, %v: tensor<?xHKx?xDVxTYPE>)
    -> (tensor<?xHQx?xDVxTYPE>, tensor<?xHQx?xf32>) {
  %o, %lse = attn.attention q(%q) k(%k) v(%v)
    mask (%b, %h, %i, %j) {
      %sq = attn.extent query : i32
      %sk = attn.extent key : i32
      %d = arith.subi %sk, %sq : i32
      %l = arith.addi %i, %d : i32
      %c = arith.cmpi sge, %l, %j : i32
      attn.yield %c : i1
    }
    : tensor<?xHQx?xDxTYPE>, tensor<?xHKx?xDxTYPE>, tensor<?xHKx?xDVxTYPE> -> tensor<?xHQx?xDVxTYPE>, tensor<?xHQx?xf32>
  return %o, %lse : tensor<?xHQx?xDVxTYPE>, tensor<?xHQx?xf32>
}
