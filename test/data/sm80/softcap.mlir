// Softcap. Tokens in capitals are replaced by who reads this file.
func.func @softcap(%q: tensor<?xHQx?xDxTYPE>, %k: tensor<?xHKx?xDxTYPE>, %v: tensor<?xHKx?xDVxTYPE>)
    -> (tensor<?xHQx?xDVxTYPE>, tensor<?xHQx?xf32>) {
  %o, %lse = attn.attention q(%q) k(%k) v(%v)
    score (%s, %b, %h, %i, %j) {
      %cap = arith.constant 30.0 : f32
      %x = arith.divf %s, %cap : f32
      %t = math.tanh %x : f32
      %y = arith.mulf %t, %cap : f32
      attn.yield %y : f32
    }
    : tensor<?xHQx?xDxTYPE>, tensor<?xHKx?xDxTYPE>, tensor<?xHKx?xDVxTYPE> -> tensor<?xHQx?xDVxTYPE>, tensor<?xHQx?xf32>
  return %o, %lse : tensor<?xHQx?xDVxTYPE>, tensor<?xHQx?xf32>
}
