// RUN: qm-opt %s --qm-lower-to-cpu --verify-diagnostics --split-input-file

// Half a vector of rows.
// expected-error @below {{QM0451: tile_m = 24, tile_n = 6, micro_m = 12, micro_n = 2 is not a schedule for 'x86-64-v3', whose vectors hold 8 floats}}
// expected-note @below {{help: make tile_m a multiple of micro_m, micro_m a multiple of 8, and tile_n and micro_n positive}}
attn.kernel @f(%q: tensor<?x4x?x3xf32>, %k: tensor<?x2x?x3xf32>, %v: tensor<?x2x?x3xf32>)
    outs(%o: tensor<?x4x?x3xf32>)
    attributes {arg_names = ["q", "k", "v", "o"],
                schedule = #attn.schedule<target = "x86-64-v3", tile_m = 24, tile_n = 6, warps = 1, stages = 1, micro_m = 12, micro_n = 2>} {
  %c2 = arith.constant 2 : i32
  %b, %h, %i0 = attn.tile_position
  %hk = arith.divui %h, %c2 : i32
  %qt = attn.load_tile %q[%b, %h, %i0] : tensor<?x4x?x3xf32> -> !attn.tile<24x3xf32>
  %m0 = attn.fill 0xFF800000 : !attn.tile<24xf32>
  %l0 = attn.fill 0.0 : !attn.tile<24xf32>
  %a0 = attn.fill 0.0 : !attn.tile<24x3xf32>
  %r:3 = attn.key_blocks (%j0) iter(%m = %m0, %l = %l0, %acc = %a0) : !attn.tile<24xf32>, !attn.tile<24xf32>, !attn.tile<24x3xf32> {
    %kt = attn.load_tile %k[%b, %hk, %j0] : tensor<?x2x?x3xf32> -> !attn.tile<6x3xf32>
    %s = attn.dot %qt, %kt : !attn.tile<24x3xf32>, !attn.tile<6x3xf32> -> !attn.tile<24x6xf32>
    %m2, %l2, %p, %alpha = attn.online_softmax %s, %m, %l exp2_scale(1.44269502) : !attn.tile<24x6xf32>, !attn.tile<24xf32>, !attn.tile<24xf32>
      -> !attn.tile<24xf32>, !attn.tile<24xf32>, !attn.tile<24x6xf32>, !attn.tile<24xf32>
    %vt = attn.load_tile %v[%b, %hk, %j0] : tensor<?x2x?x3xf32> -> !attn.tile<6x3xf32>
    %a2 = attn.accumulate %p, %vt into %acc scaled_by %alpha : !attn.tile<24x6xf32>, !attn.tile<6x3xf32>, !attn.tile<24x3xf32>, !attn.tile<24xf32> -> !attn.tile<24x3xf32>
    attn.yield %m2, %l2, %a2 : !attn.tile<24xf32>, !attn.tile<24xf32>, !attn.tile<24x3xf32>
  }
  %on, %ln = attn.normalize %r#2 by %r#1 max %r#0 exp2_scale(1.44269502) : !attn.tile<24x3xf32>, !attn.tile<24xf32>, !attn.tile<24xf32> -> !attn.tile<24x3xf32>, !attn.tile<24xf32>
  attn.store_tile %on, %o[%b, %h, %i0] : !attn.tile<24x3xf32>, tensor<?x4x?x3xf32>
}

// -----

// The accumulator of 16 rows of 70000 columns is 4 MiB.
// expected-error @below {{QM0452: a tile of 'f' needs 12031 KiB of stack; a thread has 2048 KiB for it}}
// expected-note @below {{help: lower schedule.tile_m or schedule.tile_n, or use a smaller head dim}}
attn.kernel @f(%q: tensor<?x4x?x70000xf32>, %k: tensor<?x2x?x70000xf32>, %v: tensor<?x2x?x70000xf32>)
    outs(%o: tensor<?x4x?x70000xf32>)
    attributes {arg_names = ["q", "k", "v", "o"],
                schedule = #attn.schedule<target = "x86-64-v3", tile_m = 16, tile_n = 6, warps = 1, stages = 1, micro_m = 8, micro_n = 2>} {
  %c2 = arith.constant 2 : i32
  %b, %h, %i0 = attn.tile_position
  %hk = arith.divui %h, %c2 : i32
  %qt = attn.load_tile %q[%b, %h, %i0] : tensor<?x4x?x70000xf32> -> !attn.tile<16x70000xf32>
  %m0 = attn.fill 0xFF800000 : !attn.tile<16xf32>
  %l0 = attn.fill 0.0 : !attn.tile<16xf32>
  %a0 = attn.fill 0.0 : !attn.tile<16x70000xf32>
  %r:3 = attn.key_blocks (%j0) iter(%m = %m0, %l = %l0, %acc = %a0) : !attn.tile<16xf32>, !attn.tile<16xf32>, !attn.tile<16x70000xf32> {
    %kt = attn.load_tile %k[%b, %hk, %j0] : tensor<?x2x?x70000xf32> -> !attn.tile<6x70000xf32>
    %s = attn.dot %qt, %kt : !attn.tile<16x70000xf32>, !attn.tile<6x70000xf32> -> !attn.tile<16x6xf32>
    %m2, %l2, %p, %alpha = attn.online_softmax %s, %m, %l exp2_scale(1.44269502) : !attn.tile<16x6xf32>, !attn.tile<16xf32>, !attn.tile<16xf32>
      -> !attn.tile<16xf32>, !attn.tile<16xf32>, !attn.tile<16x6xf32>, !attn.tile<16xf32>
    %vt = attn.load_tile %v[%b, %hk, %j0] : tensor<?x2x?x70000xf32> -> !attn.tile<6x70000xf32>
    %a2 = attn.accumulate %p, %vt into %acc scaled_by %alpha : !attn.tile<16x6xf32>, !attn.tile<6x70000xf32>, !attn.tile<16x70000xf32>, !attn.tile<16xf32> -> !attn.tile<16x70000xf32>
    attn.yield %m2, %l2, %a2 : !attn.tile<16xf32>, !attn.tile<16xf32>, !attn.tile<16x70000xf32>
  }
  %on, %ln = attn.normalize %r#2 by %r#1 max %r#0 exp2_scale(1.44269502) : !attn.tile<16x70000xf32>, !attn.tile<16xf32>, !attn.tile<16xf32> -> !attn.tile<16x70000xf32>, !attn.tile<16xf32>
  attn.store_tile %on, %o[%b, %h, %i0] : !attn.tile<16x70000xf32>, tensor<?x4x?x70000xf32>
}

// -----

// Probabilities are stored rounded; a map of them would be lost.
attn.kernel @f(%q: tensor<?x4x?x3xf32>, %k: tensor<?x2x?x3xf32>, %v: tensor<?x2x?x3xf32>)
    outs(%o: tensor<?x4x?x3xf32>)
    attributes {arg_names = ["q", "k", "v", "o"],
                schedule = #attn.schedule<target = "x86-64-v3", tile_m = 16, tile_n = 6, warps = 1, stages = 1, micro_m = 8, micro_n = 2>} {
  %c2 = arith.constant 2 : i32
  %b, %h, %i0 = attn.tile_position
  %hk = arith.divui %h, %c2 : i32
  %qt = attn.load_tile %q[%b, %h, %i0] : tensor<?x4x?x3xf32> -> !attn.tile<16x3xf32>
  %m0 = attn.fill 0xFF800000 : !attn.tile<16xf32>
  %l0 = attn.fill 0.0 : !attn.tile<16xf32>
  %a0 = attn.fill 0.0 : !attn.tile<16x3xf32>
  %r:3 = attn.key_blocks (%j0) iter(%m = %m0, %l = %l0, %acc = %a0) : !attn.tile<16xf32>, !attn.tile<16xf32>, !attn.tile<16x3xf32> {
    %kt = attn.load_tile %k[%b, %hk, %j0] : tensor<?x2x?x3xf32> -> !attn.tile<6x3xf32>
    %s = attn.dot %qt, %kt : !attn.tile<16x3xf32>, !attn.tile<6x3xf32> -> !attn.tile<16x6xf32>
    %m2, %l2, %p, %alpha = attn.online_softmax %s, %m, %l exp2_scale(1.44269502) : !attn.tile<16x6xf32>, !attn.tile<16xf32>, !attn.tile<16xf32>
      -> !attn.tile<16xf32>, !attn.tile<16xf32>, !attn.tile<16x6xf32>, !attn.tile<16xf32>
    %p2 = attn.map %p at[%i0, %j0] (%e, %i, %j) {
      attn.yield %e : f32
    } : !attn.tile<16x6xf32>
    %vt = attn.load_tile %v[%b, %hk, %j0] : tensor<?x2x?x3xf32> -> !attn.tile<6x3xf32>
    // expected-error @below {{QM0450: the CPU lowering cannot place 'attn.accumulate' in kernel 'f': it adds probabilities times values to a carried accumulator}}
    // expected-note @below {{help: let the passes make the kernel (qmc build), or keep the order load, dot, map and mask, softmax, accumulate, normalize, store}}
    %a2 = attn.accumulate %p2, %vt into %acc scaled_by %alpha : !attn.tile<16x6xf32>, !attn.tile<6x3xf32>, !attn.tile<16x3xf32>, !attn.tile<16xf32> -> !attn.tile<16x3xf32>
    attn.yield %m2, %l2, %a2 : !attn.tile<16xf32>, !attn.tile<16xf32>, !attn.tile<16x3xf32>
  }
  %on, %ln = attn.normalize %r#2 by %r#1 max %r#0 exp2_scale(1.44269502) : !attn.tile<16x3xf32>, !attn.tile<16xf32>, !attn.tile<16xf32> -> !attn.tile<16x3xf32>, !attn.tile<16xf32>
  attn.store_tile %on, %o[%b, %h, %i0] : !attn.tile<16x3xf32>, tensor<?x4x?x3xf32>
}

// -----

// Scores are changed in place.
attn.kernel @f(%q: tensor<?x4x?x3xf32>, %k: tensor<?x2x?x3xf32>, %v: tensor<?x2x?x3xf32>)
    outs(%o: tensor<?x4x?x3xf32>)
    attributes {arg_names = ["q", "k", "v", "o"],
                schedule = #attn.schedule<target = "x86-64-v3", tile_m = 16, tile_n = 6, warps = 1, stages = 1, micro_m = 8, micro_n = 2>} {
  %c2 = arith.constant 2 : i32
  %b, %h, %i0 = attn.tile_position
  %hk = arith.divui %h, %c2 : i32
  %qt = attn.load_tile %q[%b, %h, %i0] : tensor<?x4x?x3xf32> -> !attn.tile<16x3xf32>
  %m0 = attn.fill 0xFF800000 : !attn.tile<16xf32>
  %l0 = attn.fill 0.0 : !attn.tile<16xf32>
  %a0 = attn.fill 0.0 : !attn.tile<16x3xf32>
  %r:3 = attn.key_blocks (%j0) iter(%m = %m0, %l = %l0, %acc = %a0) : !attn.tile<16xf32>, !attn.tile<16xf32>, !attn.tile<16x3xf32> {
    %kt = attn.load_tile %k[%b, %hk, %j0] : tensor<?x2x?x3xf32> -> !attn.tile<6x3xf32>
    %s = attn.dot %qt, %kt : !attn.tile<16x3xf32>, !attn.tile<6x3xf32> -> !attn.tile<16x6xf32>
    // expected-error @below {{QM0450: the CPU lowering cannot place 'attn.map' in kernel 'f': it needs scores that nothing else reads}}
    // expected-note @below {{help: let the passes make the kernel (qmc build), or keep the order load, dot, map and mask, softmax, accumulate, normalize, store}}
    %x = attn.map %s at[%i0, %j0] (%e, %i, %j) {
      attn.yield %e : f32
    } : !attn.tile<16x6xf32>
    %m2, %l2, %p, %alpha = attn.online_softmax %s, %m, %l exp2_scale(1.44269502) : !attn.tile<16x6xf32>, !attn.tile<16xf32>, !attn.tile<16xf32>
      -> !attn.tile<16xf32>, !attn.tile<16xf32>, !attn.tile<16x6xf32>, !attn.tile<16xf32>
    %vt = attn.load_tile %v[%b, %hk, %j0] : tensor<?x2x?x3xf32> -> !attn.tile<6x3xf32>
    %a2 = attn.accumulate %p, %vt into %acc scaled_by %alpha : !attn.tile<16x6xf32>, !attn.tile<6x3xf32>, !attn.tile<16x3xf32>, !attn.tile<16xf32> -> !attn.tile<16x3xf32>
    attn.yield %m2, %l2, %a2 : !attn.tile<16xf32>, !attn.tile<16xf32>, !attn.tile<16x3xf32>
  }
  %on, %ln = attn.normalize %r#2 by %r#1 max %r#0 exp2_scale(1.44269502) : !attn.tile<16x3xf32>, !attn.tile<16xf32>, !attn.tile<16xf32> -> !attn.tile<16x3xf32>, !attn.tile<16xf32>
  attn.store_tile %on, %o[%b, %h, %i0] : !attn.tile<16x3xf32>, tensor<?x4x?x3xf32>
}

// -----

// Nothing but rounding happens to the output before it is stored.
attn.kernel @f(%q: tensor<?x4x?x3xf32>, %k: tensor<?x2x?x3xf32>, %v: tensor<?x2x?x3xf32>)
    outs(%o: tensor<?x4x?x3xf32>)
    attributes {arg_names = ["q", "k", "v", "o"],
                schedule = #attn.schedule<target = "x86-64-v3", tile_m = 16, tile_n = 6, warps = 1, stages = 1, micro_m = 8, micro_n = 2>} {
  %c2 = arith.constant 2 : i32
  %b, %h, %i0 = attn.tile_position
  %hk = arith.divui %h, %c2 : i32
  %qt = attn.load_tile %q[%b, %h, %i0] : tensor<?x4x?x3xf32> -> !attn.tile<16x3xf32>
  %m0 = attn.fill 0xFF800000 : !attn.tile<16xf32>
  %l0 = attn.fill 0.0 : !attn.tile<16xf32>
  %a0 = attn.fill 0.0 : !attn.tile<16x3xf32>
  %r:3 = attn.key_blocks (%j0) iter(%m = %m0, %l = %l0, %acc = %a0) : !attn.tile<16xf32>, !attn.tile<16xf32>, !attn.tile<16x3xf32> {
    %kt = attn.load_tile %k[%b, %hk, %j0] : tensor<?x2x?x3xf32> -> !attn.tile<6x3xf32>
    %s = attn.dot %qt, %kt : !attn.tile<16x3xf32>, !attn.tile<6x3xf32> -> !attn.tile<16x6xf32>
    %m2, %l2, %p, %alpha = attn.online_softmax %s, %m, %l exp2_scale(1.44269502) : !attn.tile<16x6xf32>, !attn.tile<16xf32>, !attn.tile<16xf32>
      -> !attn.tile<16xf32>, !attn.tile<16xf32>, !attn.tile<16x6xf32>, !attn.tile<16xf32>
    %vt = attn.load_tile %v[%b, %hk, %j0] : tensor<?x2x?x3xf32> -> !attn.tile<6x3xf32>
    %a2 = attn.accumulate %p, %vt into %acc scaled_by %alpha : !attn.tile<16x6xf32>, !attn.tile<6x3xf32>, !attn.tile<16x3xf32>, !attn.tile<16xf32> -> !attn.tile<16x3xf32>
    attn.yield %m2, %l2, %a2 : !attn.tile<16xf32>, !attn.tile<16xf32>, !attn.tile<16x3xf32>
  }
  %on, %ln = attn.normalize %r#2 by %r#1 max %r#0 exp2_scale(1.44269502) : !attn.tile<16x3xf32>, !attn.tile<16xf32>, !attn.tile<16xf32> -> !attn.tile<16x3xf32>, !attn.tile<16xf32>
  // expected-error @below {{QM0450: the CPU lowering cannot place 'attn.map' in kernel 'f': it has no meaning outside the key loop}}
  // expected-note @below {{help: let the passes make the kernel (qmc build), or keep the order load, dot, map and mask, softmax, accumulate, normalize, store}}
  %z = attn.map %on at[%i0, %i0] (%e, %i, %j) {
    attn.yield %e : f32
  } : !attn.tile<16x3xf32>
  attn.store_tile %z, %o[%b, %h, %i0] : !attn.tile<16x3xf32>, tensor<?x4x?x3xf32>
}

// -----

// Keys start at the first key of the block, not at a query row.
attn.kernel @f(%q: tensor<?x4x?x3xf32>, %k: tensor<?x2x?x3xf32>, %v: tensor<?x2x?x3xf32>)
    outs(%o: tensor<?x4x?x3xf32>)
    attributes {arg_names = ["q", "k", "v", "o"],
                schedule = #attn.schedule<target = "x86-64-v3", tile_m = 16, tile_n = 6, warps = 1, stages = 1, micro_m = 8, micro_n = 2>} {
  %c2 = arith.constant 2 : i32
  %b, %h, %i0 = attn.tile_position
  %hk = arith.divui %h, %c2 : i32
  %qt = attn.load_tile %q[%b, %h, %i0] : tensor<?x4x?x3xf32> -> !attn.tile<16x3xf32>
  %m0 = attn.fill 0xFF800000 : !attn.tile<16xf32>
  %l0 = attn.fill 0.0 : !attn.tile<16xf32>
  %a0 = attn.fill 0.0 : !attn.tile<16x3xf32>
  %r:3 = attn.key_blocks (%j0) iter(%m = %m0, %l = %l0, %acc = %a0) : !attn.tile<16xf32>, !attn.tile<16xf32>, !attn.tile<16x3xf32> {
    // expected-error @below {{QM0450: the CPU lowering cannot place 'attn.load_tile' in kernel 'f': a load in the key loop starts at the block's first key}}
    // expected-note @below {{help: let the passes make the kernel (qmc build), or keep the order load, dot, map and mask, softmax, accumulate, normalize, store}}
    %kt = attn.load_tile %k[%b, %hk, %i0] : tensor<?x2x?x3xf32> -> !attn.tile<6x3xf32>
    %s = attn.dot %qt, %kt : !attn.tile<16x3xf32>, !attn.tile<6x3xf32> -> !attn.tile<16x6xf32>
    %m2, %l2, %p, %alpha = attn.online_softmax %s, %m, %l exp2_scale(1.44269502) : !attn.tile<16x6xf32>, !attn.tile<16xf32>, !attn.tile<16xf32>
      -> !attn.tile<16xf32>, !attn.tile<16xf32>, !attn.tile<16x6xf32>, !attn.tile<16xf32>
    %vt = attn.load_tile %v[%b, %hk, %j0] : tensor<?x2x?x3xf32> -> !attn.tile<6x3xf32>
    %a2 = attn.accumulate %p, %vt into %acc scaled_by %alpha : !attn.tile<16x6xf32>, !attn.tile<6x3xf32>, !attn.tile<16x3xf32>, !attn.tile<16xf32> -> !attn.tile<16x3xf32>
    attn.yield %m2, %l2, %a2 : !attn.tile<16xf32>, !attn.tile<16xf32>, !attn.tile<16x3xf32>
  }
  %on, %ln = attn.normalize %r#2 by %r#1 max %r#0 exp2_scale(1.44269502) : !attn.tile<16x3xf32>, !attn.tile<16xf32>, !attn.tile<16xf32> -> !attn.tile<16x3xf32>, !attn.tile<16xf32>
  attn.store_tile %on, %o[%b, %h, %i0] : !attn.tile<16x3xf32>, tensor<?x4x?x3xf32>
}

// -----

// Kernels for other machines are left alone.
attn.kernel @f(%q: tensor<?x4x?x3xf32>, %k: tensor<?x2x?x3xf32>, %v: tensor<?x2x?x3xf32>)
    outs(%o: tensor<?x4x?x3xf32>)
    attributes {arg_names = ["q", "k", "v", "o"],
                schedule = #attn.schedule<target = "sm_80", tile_m = 16, tile_n = 6, warps = 1, stages = 1, micro_m = 8, micro_n = 2>} {
  %c2 = arith.constant 2 : i32
  %b, %h, %i0 = attn.tile_position
  %hk = arith.divui %h, %c2 : i32
  %qt = attn.load_tile %q[%b, %h, %i0] : tensor<?x4x?x3xf32> -> !attn.tile<16x3xf32>
  %m0 = attn.fill 0xFF800000 : !attn.tile<16xf32>
  %l0 = attn.fill 0.0 : !attn.tile<16xf32>
  %a0 = attn.fill 0.0 : !attn.tile<16x3xf32>
  %r:3 = attn.key_blocks (%j0) iter(%m = %m0, %l = %l0, %acc = %a0) : !attn.tile<16xf32>, !attn.tile<16xf32>, !attn.tile<16x3xf32> {
    %kt = attn.load_tile %k[%b, %hk, %j0] : tensor<?x2x?x3xf32> -> !attn.tile<6x3xf32>
    %s = attn.dot %qt, %kt : !attn.tile<16x3xf32>, !attn.tile<6x3xf32> -> !attn.tile<16x6xf32>
    %m2, %l2, %p, %alpha = attn.online_softmax %s, %m, %l exp2_scale(1.44269502) : !attn.tile<16x6xf32>, !attn.tile<16xf32>, !attn.tile<16xf32>
      -> !attn.tile<16xf32>, !attn.tile<16xf32>, !attn.tile<16x6xf32>, !attn.tile<16xf32>
    %vt = attn.load_tile %v[%b, %hk, %j0] : tensor<?x2x?x3xf32> -> !attn.tile<6x3xf32>
    %a2 = attn.accumulate %p, %vt into %acc scaled_by %alpha : !attn.tile<16x6xf32>, !attn.tile<6x3xf32>, !attn.tile<16x3xf32>, !attn.tile<16xf32> -> !attn.tile<16x3xf32>
    attn.yield %m2, %l2, %a2 : !attn.tile<16xf32>, !attn.tile<16xf32>, !attn.tile<16x3xf32>
  }
  %on, %ln = attn.normalize %r#2 by %r#1 max %r#0 exp2_scale(1.44269502) : !attn.tile<16x3xf32>, !attn.tile<16xf32>, !attn.tile<16xf32> -> !attn.tile<16x3xf32>, !attn.tile<16xf32>
  attn.store_tile %on, %o[%b, %h, %i0] : !attn.tile<16x3xf32>, tensor<?x4x?x3xf32>
}
