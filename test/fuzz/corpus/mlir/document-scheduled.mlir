module {
  attn.kernel @packed_documents(%q: tensor<?x16x?x64xbf16>, %k: tensor<?x4x?x64xbf16>, %v: tensor<?x4x?x64xbf16>, %ids: tensor<?x?xi32>) outs(%o: tensor<?x16x?x64xbf16>, %lse: tensor<?x16x?xf32>) attributes {arg_names = ["q", "k", "v", "ids", "o", "lse"], precision = #attn.precision<qk = bf16, pv = bf16, p = bf16, score = f32, stat = f32, acc = f32>, schedule = #attn.schedule<target = "sm_80", tile_m = 128, tile_n = 64, warps = 4, stages = 2>} {
    %c4_i32 = arith.constant 4 : i32
    %b, %h, %i0 = attn.tile_position
    %0 = arith.divui %h, %c4_i32 : i32
    %1 = attn.load_tile %q[%b, %h, %i0] : tensor<?x16x?x64xbf16> -> !attn.tile<128x64xbf16>
    %2 = attn.fill 0xFF800000 : !attn.tile<128xf32>
    %3 = attn.fill 0.000000e+00 : !attn.tile<128xf32>
    %4 = attn.fill 0.000000e+00 : !attn.tile<128x64xf32>
    %5:3 = attn.key_blocks (%j0) iter(%m = %2, %l = %3, %acc = %4) : !attn.tile<128xf32>, !attn.tile<128xf32>, !attn.tile<128x64xf32> {
      %6 = attn.load_tile %k[%b, %0, %j0] : tensor<?x4x?x64xbf16> -> !attn.tile<64x64xbf16>
      %7 = attn.dot %1, %6 : !attn.tile<128x64xbf16>, !attn.tile<64x64xbf16> -> !attn.tile<128x64xf32>
      %8 = attn.mask %7 at[%i0, %j0] (%i, %j) {
        %12 = attn.load %ids[%b, %i] : tensor<?x?xi32>
        %13 = attn.load %ids[%b, %j] : tensor<?x?xi32>
        %14 = arith.cmpi eq, %12, %13 : i32
        %15 = arith.cmpi sge, %i, %j : i32
        %16 = arith.andi %14, %15 : i1
        attn.yield %16 : i1
      } : !attn.tile<128x64xf32>
      %new_max, %new_sum, %p, %alpha = attn.online_softmax %8, %m, %l exp2_scale(0.180336878) : !attn.tile<128x64xf32>, !attn.tile<128xf32>, !attn.tile<128xf32> -> !attn.tile<128xf32>, !attn.tile<128xf32>, !attn.tile<128x64xf32>, !attn.tile<128xf32>
      %9 = attn.cast %p : !attn.tile<128x64xf32> to !attn.tile<128x64xbf16>
      %10 = attn.load_tile %v[%b, %0, %j0] : tensor<?x4x?x64xbf16> -> !attn.tile<64x64xbf16>
      %11 = attn.accumulate %9, %10 into %acc scaled_by %alpha : !attn.tile<128x64xbf16>, !attn.tile<64x64xbf16>, !attn.tile<128x64xf32>, !attn.tile<128xf32> -> !attn.tile<128x64xf32>
      attn.yield %new_max, %new_sum, %11 : !attn.tile<128xf32>, !attn.tile<128xf32>, !attn.tile<128x64xf32>
    } classify (%ilo, %ihi, %jlo, %jhi) {
      %false = arith.constant false
      %6 = arith.cmpi sle, %jlo, %ihi : i32
      attn.yield %6, %false : i1, i1
    } bounds (%ilo, %ihi) {
      %c0_i32 = arith.constant 0 : i32
      attn.yield %c0_i32, %ihi : i32, i32
    }
    %o_0, %lse_1 = attn.normalize %5#2 by %5#1 max %5#0 exp2_scale(0.180336878) : !attn.tile<128x64xf32>, !attn.tile<128xf32>, !attn.tile<128xf32> -> !attn.tile<128x64xf32>, !attn.tile<128xf32>
    attn.store_tile %o_0, %o[%b, %h, %i0] : !attn.tile<128x64xf32>, tensor<?x16x?x64xbf16>
    attn.store_tile %lse_1, %lse[%b, %h, %i0] : !attn.tile<128xf32>, tensor<?x16x?xf32>
  }
}
