module {
  func.func @softcap_alibi(%arg0: tensor<?x16x?x64xbf16>, %arg1: tensor<?x4x?x64xbf16>, %arg2: tensor<?x4x?x64xbf16>, %arg3: tensor<16xf32> {attn.name = "slopes"}) -> tensor<?x16x?x64xbf16> {
    %0 = attn.attention q(%arg0) k(%arg1) v(%arg2) 
      score (%s, %b, %h, %i, %j) {
        %cst = arith.constant 3.000000e+01 : f32
        %1 = arith.divf %s, %cst : f32
        %2 = math.tanh %1 : f32
        %3 = arith.mulf %cst, %2 : f32
        %4 = attn.load %arg3[%h] : tensor<16xf32>
        %5 = arith.subi %j, %i : i32
        %6 = arith.sitofp %5 : i32 to f32
        %7 = arith.mulf %4, %6 : f32
        %8 = arith.addf %3, %7 : f32
        attn.yield %8 : f32
      }
      mask (%b, %h, %i, %j) {
        %1 = attn.extent  key : i32
        %2 = attn.extent  query : i32
        %3 = arith.subi %1, %2 : i32
        %4 = arith.addi %i, %3 : i32
        %5 = arith.cmpi sge, %4, %j : i32
        %c4_i32 = arith.constant 4 : i32
        %6 = arith.cmpi slt, %j, %c4_i32 : i32
        %7 = arith.subi %4, %j : i32
        %c1023_i32 = arith.constant 1023 : i32
        %8 = arith.cmpi sle, %7, %c1023_i32 : i32
        %9 = arith.ori %6, %8 : i1
        %10 = arith.andi %5, %9 : i1
        attn.yield %10 : i1
      } : tensor<?x16x?x64xbf16>, tensor<?x4x?x64xbf16>, tensor<?x4x?x64xbf16> -> tensor<?x16x?x64xbf16>
    return %0 : tensor<?x16x?x64xbf16>
  }
}
