// ALiBi with slopes in a buffer. Tokens in capitals are replaced by who reads this file.
func.func @alibi(%q: tensor<?xHQx?xDxTYPE>, %k: tensor<?xHKx?xDxTYPE>, %v: tensor<?xHKx?xDVxTYPE>, %slopes: tensor<HQxf32> {attn.name = "slopes"})
    -> (tensor<?xHQx?xDVxTYPE>, tensor<?xHQx?xf32>) {
  %o, %lse = attn.attention q(%q) k(%k) v(%v)
    score (%s, %b, %h, %i, %j) {
      %m = attn.load %slopes[%h] : tensor<HQxf32>
      %d = arith.subi %j, %i : i32
      %f = arith.sitofp %d : i32 to f32
      %p = arith.mulf %m, %f : f32
      %t = arith.addf %s, %p : f32
      attn.yield %t : f32
    }
    mask (%b, %h, %i, %j) {
      %c = arith.cmpi sge, %i, %j : i32
      attn.yield %c : i1
    }
    : tensor<?xHQx?xDxTYPE>, tensor<?xHKx?xDxTYPE>, tensor<?xHKx?xDVxTYPE> -> tensor<?xHQx?xDVxTYPE>, tensor<?xHQx?xf32>
  return %o, %lse : tensor<?xHQx?xDVxTYPE>, tensor<?xHQx?xf32>
}
