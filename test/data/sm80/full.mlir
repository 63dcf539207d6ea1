// No mask, no score modifier. Tokens in capitals are replaced by who reads this file.
func.func @full(%q: tensor<?xHQx?xDxTYPE>, %k: tensor<?xHKx?xDxTYPE>, %v: tensor<?xHKx?xDVxTYPE>)
    -> (tensor<?xHQx?xDVxTYPE>, tensor<?xHQx?xf32>) {
  %o, %lse = attn.attention q(%q) k(%k) v(%v)
    : tensor<?xHQx?xDxTYPE>, tensor<?xHKx?xDxTYPE>, tensor<?xHKx?xDVxTYPE> -> tensor<?xHQx?xDVxTYPE>, tensor<?xHQx?xf32>
  return %o, %lse : tensor<?xHQx?xDVxTYPE>, tensor<?xHQx?xf32>
}
