module {
  attn.kernel @softcap_alibi(%q: tensor<?x16x?x64xbf16>, %k: tensor<?x4x?x64xbf16>, %v: tensor<?x4x?x64xbf16>, %slopes: tensor<16xf32>) outs(%o: tensor<?x16x?x64xbf16>) attributes {arg_names = ["q", "k", "v", "slopes", "o"]} {
    %c4_i32 = arith.constant 4 : i32
    %b, %h, %i0 = attn.tile_position
    %0 = arith.divui %h, %c4_i32 : i32
    %1 = attn.load_tile %q[%b, %h, %i0] : tensor<?x16x?x64xbf16> -> !attn.tile<?x64xbf16>
    %2 = attn.fill 0xFF800000 : !attn.tile<?xf32>
    %3 = attn.fill 0.000000e+00 : !attn.tile<?xf32>
    %4 = attn.fill 0.000000e+00 : !attn.tile<?x64xf32>
    %5:3 = attn.key_blocks (%j0) iter(%m = %2, %l = %3, %acc = %4) : !attn.tile<?xf32>, !attn.tile<?xf32>, !attn.tile<?x64xf32> {
      %6 = attn.load_tile %k[%b, %0, %j0] : tensor<?x4x?x64xbf16> -> !attn.tile<?x64xbf16>
      %7 = attn.dot %1, %6 : !attn.tile<?x64xbf16>, !attn.tile<?x64xbf16> -> !attn.tile<?x?xf32>
      %8 = attn.map %7 at[%i0, %j0] (%s, %i, %j) {
        %cst = arith.constant 1.250000e-01 : f32
        %13 = arith.mulf %s, %cst : f32
        attn.yield %13 : f32
      } : !attn.tile<?x?xf32>
      %9 = attn.map %8 at[%i0, %j0] (%s, %i, %j) {
        %cst = arith.constant 3.000000e+01 : f32
        %13 = arith.divf %s, %cst : f32
        %14 = math.tanh %13 : f32
        %15 = arith.mulf %14, %cst : f32
        %16 = attn.load %slopes[%h] : tensor<16xf32>
        %17 = arith.subi %j, %i : i32
        %18 = arith.sitofp %17 : i32 to f32
        %19 = arith.mulf %16, %18 : f32
        %20 = arith.addf %15, %19 : f32
        attn.yield %20 : f32
      } : !attn.tile<?x?xf32>
      %10 = attn.mask %9 at[%i0, %j0] (%i, %j) {
        %c1023_i32 = arith.constant 1023 : i32
        %c4_i32_1 = arith.constant 4 : i32
        %13 = attn.extent  key : i32
        %14 = attn.extent  query : i32
        %15 = arith.subi %13, %14 : i32
        %16 = arith.addi %i, %15 : i32
        %17 = arith.cmpi sge, %16, %j : i32
        %18 = arith.cmpi slt, %j, %c4_i32_1 : i32
        %19 = arith.subi %16, %j : i32
        %20 = arith.cmpi sle, %19, %c1023_i32 : i32
        %21 = arith.ori %18, %20 : i1
        %22 = arith.andi %17, %21 : i1
        attn.yield %22 : i1
      } : !attn.tile<?x?xf32>
      %new_max, %new_sum, %p, %alpha = attn.online_softmax %10, %m, %l : !attn.tile<?x?xf32>, !attn.tile<?xf32>, !attn.tile<?xf32> -> !attn.tile<?xf32>, !attn.tile<?xf32>, !attn.tile<?x?xf32>, !attn.tile<?xf32>
      %11 = attn.load_tile %v[%b, %0, %j0] : tensor<?x4x?x64xbf16> -> !attn.tile<?x64xbf16>
      %12 = attn.accumulate %p, %11 into %acc scaled_by %alpha : !attn.tile<?x?xf32>, !attn.tile<?x64xbf16>, !attn.tile<?x64xf32>, !attn.tile<?xf32> -> !attn.tile<?x64xf32>
      attn.yield %new_max, %new_sum, %12 : !attn.tile<?xf32>, !attn.tile<?xf32>, !attn.tile<?x64xf32>
    } classify (%ilo, %ihi, %jlo, %jhi) {
      %c1023_i32 = arith.constant 1023 : i32
      %c4_i32_1 = arith.constant 4 : i32
      %true = arith.constant true
      %6 = attn.extent  key : i32
      %7 = attn.extent  query : i32
      %8 = arith.subi %6, %7 : i32
      %9 = arith.addi %ilo, %8 : i32
      %10 = arith.addi %ihi, %8 : i32
      %11 = arith.cmpi sle, %jlo, %10 : i32
      %12 = arith.cmpi sgt, %jhi, %9 : i32
      %13 = arith.cmpi slt, %jlo, %c4_i32_1 : i32
      %14 = arith.cmpi sge, %jhi, %c4_i32_1 : i32
      %15 = arith.subi %9, %jhi : i32
      %16 = arith.subi %10, %jlo : i32
      %17 = arith.cmpi sle, %15, %c1023_i32 : i32
      %18 = arith.cmpi sgt, %16, %c1023_i32 : i32
      %19 = arith.ori %13, %17 : i1
      %20 = arith.andi %14, %18 : i1
      %21 = arith.andi %11, %19 : i1
      %22 = arith.ori %12, %20 : i1
      %23 = arith.xori %22, %true : i1
      attn.yield %21, %23 : i1, i1
    } bounds (%ilo, %ihi) {
      %c0_i32 = arith.constant 0 : i32
      %6 = attn.extent  key : i32
      %7 = attn.extent  query : i32
      %8 = arith.subi %6, %7 : i32
      %9 = arith.addi %ihi, %8 : i32
      attn.yield %c0_i32, %9 : i32, i32
    }
    %o_0, %lse = attn.normalize %5#2 by %5#1 max %5#0 : !attn.tile<?x64xf32>, !attn.tile<?xf32>, !attn.tile<?xf32> -> !attn.tile<?x64xf32>, !attn.tile<?xf32>
    attn.store_tile %o_0, %o[%b, %h, %i0] : !attn.tile<?x64xf32>, tensor<?x16x?x64xbf16>
  }
}
