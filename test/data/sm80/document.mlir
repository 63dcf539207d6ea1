// Documents: a gather by row and by key. Tokens in capitals are replaced by who reads this file.
func.func @document(%q: tensor<?xHQx?xDxTYPE>, %k: tensor<?xHKx?xDxTYPE>, %v: tensor<?xHKx?xDVxTYPE>, %doc: tensor<?x?xi32> {attn.name = "doc"})
    -> (tensor<?xHQx?xDVxTYPE>, tensor<?xHQx?xf32>) {
  %o, %lse = attn.attention q(%q) k(%k) v(%v)
    mask (%b, %h, %i, %j) {
      %x = attn.load %doc[%b, %i] : tensor<?x?xi32>
      %y = attn.load %doc[%b, %j] : tensor<?x?xi32>
      %c = arith.cmpi eq, %x, %y : i32
      attn.yield %c : i1
    }
    : tensor<?xHQx?xDxTYPE>, tensor<?xHKx?xDxTYPE>, tensor<?xHKx?xDVxTYPE> -> tensor<?xHQx?xDVxTYPE>, tensor<?xHQx?xf32>
  return %o, %lse : tensor<?xHQx?xDVxTYPE>, tensor<?xHQx?xf32>
}
