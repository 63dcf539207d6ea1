// A dense bias by query and key, shared by all heads. Tokens in capitals are replaced by who reads this file.
func.func @bias(%q: tensor<?xHQx?xDxTYPE>, %k: tensor<?xHKx?xDxTYPE>, %v: tensor<?xHKx?xDVxTYPE>, %bias: tensor<?x?xTYPE> {attn.name = "bias"})
    -> (tensor<?xHQx?xDVxTYPE>, tensor<?xHQx?xf32>) {
  %o, %lse = attn.attention q(%q) k(%k) v(%v)
    score (%s, %b, %h, %i, %j) {
      %t = attn.load %bias[%i, %j] : tensor<?x?xTYPE>
      %f = arith.extf %t : TYPE to f32
      %y = arith.addf %s, %f : f32
      attn.yield %y : f32
    }
    : tensor<?xHQx?xDxTYPE>, tensor<?xHKx?xDxTYPE>, tensor<?xHKx?xDVxTYPE> -> tensor<?xHQx?xDVxTYPE>, tensor<?xHQx?xf32>
  return %o, %lse : tensor<?xHQx?xDVxTYPE>, tensor<?xHQx?xf32>
}
