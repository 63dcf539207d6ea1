// A table of biases by distance, one row a head. Tokens in capitals are replaced by who reads this file.
func.func @relative(%q: tensor<?xHQx?xDxTYPE>, %k: tensor<?xHKx?xDxTYPE>, %v: tensor<?xHKx?xDVxTYPE>, %table: tensor<HQx?xf32> {attn.name = "table"})
    -> (tensor<?xHQx?xDVxTYPE>, tensor<?xHQx?xf32>) {
  %o, %lse = attn.attention q(%q) k(%k) v(%v)
    score (%s, %b, %h, %i, %j) {
      %d = arith.subi %j, %i : i32
      %n = attn.extent query : i32
      %x = arith.addi %d, %n : i32
      %t = attn.load %table[%h, %x] : tensor<HQx?xf32>
      %y = arith.addf %s, %t : f32
      attn.yield %y : f32
    }
    : tensor<?xHQx?xDxTYPE>, tensor<?xHKx?xDxTYPE>, tensor<?xHKx?xDVxTYPE> -> tensor<?xHQx?xDVxTYPE>, tensor<?xHQx?xf32>
  return %o, %lse : tensor<?xHQx?xDVxTYPE>, tensor<?xHQx?xf32>
}
