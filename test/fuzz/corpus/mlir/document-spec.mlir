module {
  func.func @packed_documents(%arg0: tensor<?x16x?x64xbf16>, %arg1: tensor<?x4x?x64xbf16>, %arg2: tensor<?x4x?x64xbf16>, %arg3: tensor<?x?xi32> {attn.name = "ids"}) -> (tensor<?x16x?x64xbf16>, tensor<?x16x?xf32>) {
    %0:2 = attn.attention q(%arg0) k(%arg1) v(%arg2) 
      mask (%b, %h, %i, %j) {
        %1 = attn.load %arg3[%b, %i] : tensor<?x?xi32>
        %2 = attn.load %arg3[%b, %j] : tensor<?x?xi32>
        %3 = arith.cmpi eq, %1, %2 : i32
        %4 = arith.cmpi sge, %i, %j : i32
        %5 = arith.andi %3, %4 : i1
        attn.yield %5 : i1
      } : tensor<?x16x?x64xbf16>, tensor<?x4x?x64xbf16>, tensor<?x4x?x64xbf16> -> tensor<?x16x?x64xbf16>, tensor<?x16x?xf32>
    return %0#0, %0#1 : tensor<?x16x?x64xbf16>, tensor<?x16x?xf32>
  }
}
