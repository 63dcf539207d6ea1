// Packed sequences, causal, aligned at the bottom right of each. Tokens in capitals are replaced by who reads this file.
func.func @packed_causal(%q: tensor<1xHQx?xDxTYPE>, %k: tensor<1xHKx?xDxTYPE>, %v: tensor<1xHKx?xDVxTYPE>,
                         %cu_q: tensor<?xi32> {attn.name = "cu_q"}, %cu_kv: tensor<?xi32> {attn.name = "cu_kv"})
    -> (tensor<1xHQx?xDVxTYPE>, tensor<1xHQx?xf32>) {
  %o, %lse = attn.attention q(%q) k(%k) v(%v) packed(%cu_q, %cu_kv)
    mask (%b, %h, %i, %j) {
      %sq = attn.extent query : i32
      %sk = attn.extent key : i32
      %d = arith.subi %sk, %sq : i32
      %l = arith.addi %i, %d : i32
      %c = arith.cmpi sge, %l, %j : i32
      attn.yield %c : i1
    }
    : tensor<1xHQx?xDxTYPE>, tensor<1xHKx?xDxTYPE>, tensor<1xHKx?xDVxTYPE> -> tensor<1xHQx?xDVxTYPE>, tensor<1xHQx?xf32>
  return %o, %lse : tensor<1xHQx?xDVxTYPE>, tensor<1xHQx?xf32>
}
