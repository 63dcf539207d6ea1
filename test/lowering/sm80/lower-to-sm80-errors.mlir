// What the sm_80 lowering refuses: each message names the object and both numbers, and a way out.
// RUN: qm-opt %s --pass-pipeline='builtin.module(attn.kernel(qm-expand-gpu-math),qm-lower-to-sm80)' --verify-diagnostics --split-input-file

// A row of 100 elements is no multiple of 16 bytes.
// expected-error@below {{QM0401: query and key head dim 100 is not supported on NVIDIA targets; multiples of 8 from 8 to 256 are}}
// expected-note@below {{help: pad the head dim with zeros to 104, or use --arch=cpu}}
attn.kernel @f(%q: tensor<?x1x?x100xbf16>, %k: tensor<?x1x?x100xbf16>, %v: tensor<?x1x?x100xbf16>)
    outs(%o: tensor<?x1x?x100xbf16>)
    attributes {arg_names = ["q", "k", "v", "o"],
      precision = #attn.precision<qk = bf16, pv = bf16, p = bf16, score = f32, stat = f32, acc = f32>,
      schedule = #attn.schedule<target = "sm_80", tile_m = 64, tile_n = 64, warps = 4, stages = 2>} {
  %b, %h, %i0 = attn.tile_position
  %qt = attn.load_tile %q[%b, %h, %i0] : tensor<?x1x?x100xbf16> -> !attn.tile<64x100xbf16>
  %m0 = attn.fill 0xFF800000 : !attn.tile<64xf32>
  %l0 = attn.fill 0.0 : !attn.tile<64xf32>
  %a0 = attn.fill 0.0 : !attn.tile<64x100xf32>
  %r:3 = attn.key_blocks (%j0) iter(%m = %m0, %l = %l0, %acc = %a0) : !attn.tile<64xf32>, !attn.tile<64xf32>, !attn.tile<64x100xf32> {
    %kt = attn.load_tile %k[%b, %h, %j0] : tensor<?x1x?x100xbf16> -> !attn.tile<64x100xbf16>
    %s = attn.dot %qt, %kt : !attn.tile<64x100xbf16>, !attn.tile<64x100xbf16> -> !attn.tile<64x64xf32>
    %m2, %l2, %p, %alpha = attn.online_softmax %s, %m, %l exp2_scale(0.18) : !attn.tile<64x64xf32>, !attn.tile<64xf32>, !attn.tile<64xf32> -> !attn.tile<64xf32>, !attn.tile<64xf32>, !attn.tile<64x64xf32>, !attn.tile<64xf32>
    %pb = attn.cast %p : !attn.tile<64x64xf32> to !attn.tile<64x64xbf16>
    %vt = attn.load_tile %v[%b, %h, %j0] : tensor<?x1x?x100xbf16> -> !attn.tile<64x100xbf16>
    %a2 = attn.accumulate %pb, %vt into %acc scaled_by %alpha : !attn.tile<64x64xbf16>, !attn.tile<64x100xbf16>, !attn.tile<64x100xf32>, !attn.tile<64xf32> -> !attn.tile<64x100xf32>
    attn.yield %m2, %l2, %a2 : !attn.tile<64xf32>, !attn.tile<64xf32>, !attn.tile<64x100xf32>
  }
  %on, %ln = attn.normalize %r#2 by %r#1 max %r#0 exp2_scale(0.18) : !attn.tile<64x100xf32>, !attn.tile<64xf32>, !attn.tile<64xf32> -> !attn.tile<64x100xf32>, !attn.tile<64xf32>
  attn.store_tile %on, %o[%b, %h, %i0] : !attn.tile<64x100xf32>, tensor<?x1x?x100xbf16>
}

// -----

// The accumulator of 16 rows and more than 256 columns leaves no registers.
// expected-error@below {{QM0401: query and key head dim 264 is not supported on NVIDIA targets; multiples of 8 from 8 to 256 are}}
// expected-note@below {{help: use --arch=cpu}}
attn.kernel @f(%q: tensor<?x1x?x264xbf16>, %k: tensor<?x1x?x264xbf16>, %v: tensor<?x1x?x264xbf16>)
    outs(%o: tensor<?x1x?x264xbf16>)
    attributes {arg_names = ["q", "k", "v", "o"],
      precision = #attn.precision<qk = bf16, pv = bf16, p = bf16, score = f32, stat = f32, acc = f32>,
      schedule = #attn.schedule<target = "sm_80", tile_m = 64, tile_n = 64, warps = 4, stages = 2>} {
  %b, %h, %i0 = attn.tile_position
  %qt = attn.load_tile %q[%b, %h, %i0] : tensor<?x1x?x264xbf16> -> !attn.tile<64x264xbf16>
  %m0 = attn.fill 0xFF800000 : !attn.tile<64xf32>
  %l0 = attn.fill 0.0 : !attn.tile<64xf32>
  %a0 = attn.fill 0.0 : !attn.tile<64x264xf32>
  %r:3 = attn.key_blocks (%j0) iter(%m = %m0, %l = %l0, %acc = %a0) : !attn.tile<64xf32>, !attn.tile<64xf32>, !attn.tile<64x264xf32> {
    %kt = attn.load_tile %k[%b, %h, %j0] : tensor<?x1x?x264xbf16> -> !attn.tile<64x264xbf16>
    %s = attn.dot %qt, %kt : !attn.tile<64x264xbf16>, !attn.tile<64x264xbf16> -> !attn.tile<64x64xf32>
    %m2, %l2, %p, %alpha = attn.online_softmax %s, %m, %l exp2_scale(0.18) : !attn.tile<64x64xf32>, !attn.tile<64xf32>, !attn.tile<64xf32> -> !attn.tile<64xf32>, !attn.tile<64xf32>, !attn.tile<64x64xf32>, !attn.tile<64xf32>
    %pb = attn.cast %p : !attn.tile<64x64xf32> to !attn.tile<64x64xbf16>
    %vt = attn.load_tile %v[%b, %h, %j0] : tensor<?x1x?x264xbf16> -> !attn.tile<64x264xbf16>
    %a2 = attn.accumulate %pb, %vt into %acc scaled_by %alpha : !attn.tile<64x64xbf16>, !attn.tile<64x264xbf16>, !attn.tile<64x264xf32>, !attn.tile<64xf32> -> !attn.tile<64x264xf32>
    attn.yield %m2, %l2, %a2 : !attn.tile<64xf32>, !attn.tile<64xf32>, !attn.tile<64x264xf32>
  }
  %on, %ln = attn.normalize %r#2 by %r#1 max %r#0 exp2_scale(0.18) : !attn.tile<64x264xf32>, !attn.tile<64xf32>, !attn.tile<64xf32> -> !attn.tile<64x264xf32>, !attn.tile<64xf32>
  attn.store_tile %on, %o[%b, %h, %i0] : !attn.tile<64x264xf32>, tensor<?x1x?x264xbf16>
}

// -----

// Operands made of f32 leave ping-pong no registers.
// expected-error@below {{QM0404: schedule.ping_pong = 1 is not supported on NVIDIA targets: operands of 32 bits leave it no registers}}
// expected-note@below {{help: use --set schedule.ping_pong=0}}
attn.kernel @f(%q: tensor<?x1x?x64xf32>, %k: tensor<?x1x?x64xf32>, %v: tensor<?x1x?x64xf32>)
    outs(%o: tensor<?x1x?x64xf32>)
    attributes {arg_names = ["q", "k", "v", "o"],
      precision = #attn.precision<qk = f32, pv = f32, p = f32, score = f32, stat = f32, acc = f32>,
      schedule = #attn.schedule<target = "sm_80", tile_m = 64, tile_n = 64, warps = 4, stages = 3, ping_pong = 1>} {
  %b, %h, %i0 = attn.tile_position
  %qt = attn.load_tile %q[%b, %h, %i0] : tensor<?x1x?x64xf32> -> !attn.tile<64x64xf32>
  %m0 = attn.fill 0xFF800000 : !attn.tile<64xf32>
  %l0 = attn.fill 0.0 : !attn.tile<64xf32>
  %a0 = attn.fill 0.0 : !attn.tile<64x64xf32>
  %r:3 = attn.key_blocks (%j0) iter(%m = %m0, %l = %l0, %acc = %a0) : !attn.tile<64xf32>, !attn.tile<64xf32>, !attn.tile<64x64xf32> {
    %kt = attn.load_tile %k[%b, %h, %j0] : tensor<?x1x?x64xf32> -> !attn.tile<64x64xf32>
    %s = attn.dot %qt, %kt : !attn.tile<64x64xf32>, !attn.tile<64x64xf32> -> !attn.tile<64x64xf32>
    %m2, %l2, %p, %alpha = attn.online_softmax %s, %m, %l exp2_scale(0.18) : !attn.tile<64x64xf32>, !attn.tile<64xf32>, !attn.tile<64xf32> -> !attn.tile<64xf32>, !attn.tile<64xf32>, !attn.tile<64x64xf32>, !attn.tile<64xf32>
    %vt = attn.load_tile %v[%b, %h, %j0] : tensor<?x1x?x64xf32> -> !attn.tile<64x64xf32>
    %a2 = attn.accumulate %p, %vt into %acc scaled_by %alpha : !attn.tile<64x64xf32>, !attn.tile<64x64xf32>, !attn.tile<64x64xf32>, !attn.tile<64xf32> -> !attn.tile<64x64xf32>
    attn.yield %m2, %l2, %a2 : !attn.tile<64xf32>, !attn.tile<64xf32>, !attn.tile<64x64xf32>
  }
  %on, %ln = attn.normalize %r#2 by %r#1 max %r#0 exp2_scale(0.18) : !attn.tile<64x64xf32>, !attn.tile<64xf32>, !attn.tile<64xf32> -> !attn.tile<64x64xf32>, !attn.tile<64xf32>
  attn.store_tile %on, %o[%b, %h, %i0] : !attn.tile<64x64xf32>, tensor<?x1x?x64xf32>
}

// -----

// f32 is written by kernels of f32 alone.
attn.kernel @f(%q: tensor<?x1x?x64xbf16>, %k: tensor<?x1x?x64xbf16>, %v: tensor<?x1x?x64xbf16>)
    outs(%o: tensor<?x1x?x64xf32>)
    attributes {arg_names = ["q", "k", "v", "o"],
      precision = #attn.precision<qk = bf16, pv = bf16, p = bf16, score = f32, stat = f32, acc = f32>,
      schedule = #attn.schedule<target = "sm_80", tile_m = 64, tile_n = 64, warps = 4, stages = 2>} {
  %b, %h, %i0 = attn.tile_position
  %qt = attn.load_tile %q[%b, %h, %i0] : tensor<?x1x?x64xbf16> -> !attn.tile<64x64xbf16>
  %m0 = attn.fill 0xFF800000 : !attn.tile<64xf32>
  %l0 = attn.fill 0.0 : !attn.tile<64xf32>
  %a0 = attn.fill 0.0 : !attn.tile<64x64xf32>
  %r:3 = attn.key_blocks (%j0) iter(%m = %m0, %l = %l0, %acc = %a0) : !attn.tile<64xf32>, !attn.tile<64xf32>, !attn.tile<64x64xf32> {
    %kt = attn.load_tile %k[%b, %h, %j0] : tensor<?x1x?x64xbf16> -> !attn.tile<64x64xbf16>
    %s = attn.dot %qt, %kt : !attn.tile<64x64xbf16>, !attn.tile<64x64xbf16> -> !attn.tile<64x64xf32>
    %m2, %l2, %p, %alpha = attn.online_softmax %s, %m, %l exp2_scale(0.18) : !attn.tile<64x64xf32>, !attn.tile<64xf32>, !attn.tile<64xf32> -> !attn.tile<64xf32>, !attn.tile<64xf32>, !attn.tile<64x64xf32>, !attn.tile<64xf32>
    %vt = attn.load_tile %v[%b, %h, %j0] : tensor<?x1x?x64xbf16> -> !attn.tile<64x64xbf16>
    %pb = attn.cast %p : !attn.tile<64x64xf32> to !attn.tile<64x64xbf16>
    %a2 = attn.accumulate %pb, %vt into %acc scaled_by %alpha : !attn.tile<64x64xbf16>, !attn.tile<64x64xbf16>, !attn.tile<64x64xf32>, !attn.tile<64xf32> -> !attn.tile<64x64xf32>
    attn.yield %m2, %l2, %a2 : !attn.tile<64xf32>, !attn.tile<64xf32>, !attn.tile<64x64xf32>
  }
  %on, %ln = attn.normalize %r#2 by %r#1 max %r#0 exp2_scale(0.18) : !attn.tile<64x64xf32>, !attn.tile<64xf32>, !attn.tile<64xf32> -> !attn.tile<64x64xf32>, !attn.tile<64xf32>
  // expected-error@below {{QM0402: an output of type 'f32' is not supported on NVIDIA targets; f16, bf16 and the type of q are}}
  // expected-note@below {{help: return o in the type of q, or use --arch=cpu}}
  attn.store_tile %on, %o[%b, %h, %i0] : !attn.tile<64x64xf32>, tensor<?x1x?x64xf32>
}

// -----

// Probabilities are operands of the second product, so they have its type.
// expected-error@below {{QM0403: precision.pv = 'f32' is not supported on NVIDIA targets}}
// expected-note@below {{help: leave precision.pv at its default, or use --arch=cpu}}
attn.kernel @f(%q: tensor<?x1x?x64xbf16>, %k: tensor<?x1x?x64xbf16>, %v: tensor<?x1x?x64xbf16>)
    outs(%o: tensor<?x1x?x64xbf16>)
    attributes {arg_names = ["q", "k", "v", "o"],
      precision = #attn.precision<qk = bf16, pv = f32, p = f32, score = f32, stat = f32, acc = f32>,
      schedule = #attn.schedule<target = "sm_80", tile_m = 64, tile_n = 64, warps = 4, stages = 2>} {
  %b, %h, %i0 = attn.tile_position
  %qt = attn.load_tile %q[%b, %h, %i0] : tensor<?x1x?x64xbf16> -> !attn.tile<64x64xbf16>
  %m0 = attn.fill 0xFF800000 : !attn.tile<64xf32>
  %l0 = attn.fill 0.0 : !attn.tile<64xf32>
  %a0 = attn.fill 0.0 : !attn.tile<64x64xf32>
  %r:3 = attn.key_blocks (%j0) iter(%m = %m0, %l = %l0, %acc = %a0) : !attn.tile<64xf32>, !attn.tile<64xf32>, !attn.tile<64x64xf32> {
    %kt = attn.load_tile %k[%b, %h, %j0] : tensor<?x1x?x64xbf16> -> !attn.tile<64x64xbf16>
    %s = attn.dot %qt, %kt : !attn.tile<64x64xbf16>, !attn.tile<64x64xbf16> -> !attn.tile<64x64xf32>
    %m2, %l2, %p, %alpha = attn.online_softmax %s, %m, %l exp2_scale(0.18) : !attn.tile<64x64xf32>, !attn.tile<64xf32>, !attn.tile<64xf32> -> !attn.tile<64xf32>, !attn.tile<64xf32>, !attn.tile<64x64xf32>, !attn.tile<64xf32>
    %vt = attn.load_tile %v[%b, %h, %j0] : tensor<?x1x?x64xbf16> -> !attn.tile<64x64xbf16>
    %a2 = attn.accumulate %p, %vt into %acc scaled_by %alpha : !attn.tile<64x64xf32>, !attn.tile<64x64xbf16>, !attn.tile<64x64xf32>, !attn.tile<64xf32> -> !attn.tile<64x64xf32>
    attn.yield %m2, %l2, %a2 : !attn.tile<64xf32>, !attn.tile<64xf32>, !attn.tile<64x64xf32>
  }
  %on, %ln = attn.normalize %r#2 by %r#1 max %r#0 exp2_scale(0.18) : !attn.tile<64x64xf32>, !attn.tile<64xf32>, !attn.tile<64xf32> -> !attn.tile<64x64xf32>, !attn.tile<64xf32>
  attn.store_tile %on, %o[%b, %h, %i0] : !attn.tile<64x64xf32>, tensor<?x1x?x64xbf16>
}

// -----

// No layout for nine warps.
// expected-error@below {{QM0404: schedule.warps = 9 is not supported on NVIDIA targets: 1 to 8 warps}}
// expected-note@below {{help: use --set schedule.warps=4}}
attn.kernel @f(%q: tensor<?x1x?x64xbf16>, %k: tensor<?x1x?x64xbf16>, %v: tensor<?x1x?x64xbf16>)
    outs(%o: tensor<?x1x?x64xbf16>)
    attributes {arg_names = ["q", "k", "v", "o"],
      precision = #attn.precision<qk = bf16, pv = bf16, p = bf16, score = f32, stat = f32, acc = f32>,
      schedule = #attn.schedule<target = "sm_80", tile_m = 144, tile_n = 64, warps = 9, stages = 2>} {
  %b, %h, %i0 = attn.tile_position
  %qt = attn.load_tile %q[%b, %h, %i0] : tensor<?x1x?x64xbf16> -> !attn.tile<144x64xbf16>
  %m0 = attn.fill 0xFF800000 : !attn.tile<144xf32>
  %l0 = attn.fill 0.0 : !attn.tile<144xf32>
  %a0 = attn.fill 0.0 : !attn.tile<144x64xf32>
  %r:3 = attn.key_blocks (%j0) iter(%m = %m0, %l = %l0, %acc = %a0) : !attn.tile<144xf32>, !attn.tile<144xf32>, !attn.tile<144x64xf32> {
    %kt = attn.load_tile %k[%b, %h, %j0] : tensor<?x1x?x64xbf16> -> !attn.tile<64x64xbf16>
    %s = attn.dot %qt, %kt : !attn.tile<144x64xbf16>, !attn.tile<64x64xbf16> -> !attn.tile<144x64xf32>
    %m2, %l2, %p, %alpha = attn.online_softmax %s, %m, %l exp2_scale(0.18) : !attn.tile<144x64xf32>, !attn.tile<144xf32>, !attn.tile<144xf32> -> !attn.tile<144xf32>, !attn.tile<144xf32>, !attn.tile<144x64xf32>, !attn.tile<144xf32>
    %pb = attn.cast %p : !attn.tile<144x64xf32> to !attn.tile<144x64xbf16>
    %vt = attn.load_tile %v[%b, %h, %j0] : tensor<?x1x?x64xbf16> -> !attn.tile<64x64xbf16>
    %a2 = attn.accumulate %pb, %vt into %acc scaled_by %alpha : !attn.tile<144x64xbf16>, !attn.tile<64x64xbf16>, !attn.tile<144x64xf32>, !attn.tile<144xf32> -> !attn.tile<144x64xf32>
    attn.yield %m2, %l2, %a2 : !attn.tile<144xf32>, !attn.tile<144xf32>, !attn.tile<144x64xf32>
  }
  %on, %ln = attn.normalize %r#2 by %r#1 max %r#0 exp2_scale(0.18) : !attn.tile<144x64xf32>, !attn.tile<144xf32>, !attn.tile<144xf32> -> !attn.tile<144x64xf32>, !attn.tile<144xf32>
  attn.store_tile %on, %o[%b, %h, %i0] : !attn.tile<144x64xf32>, tensor<?x1x?x64xbf16>
}

// -----

// A warp has one or two tiles of 16 rows.
// expected-error@below {{QM0404: schedule.tile_m = 256 is not supported on NVIDIA targets: a warp has 16 or 32 rows, so 4 warps make 64 or 128}}
// expected-note@below {{help: use --set schedule.tile_m=128}}
attn.kernel @f(%q: tensor<?x1x?x64xbf16>, %k: tensor<?x1x?x64xbf16>, %v: tensor<?x1x?x64xbf16>)
    outs(%o: tensor<?x1x?x64xbf16>)
    attributes {arg_names = ["q", "k", "v", "o"],
      precision = #attn.precision<qk = bf16, pv = bf16, p = bf16, score = f32, stat = f32, acc = f32>,
      schedule = #attn.schedule<target = "sm_80", tile_m = 256, tile_n = 64, warps = 4, stages = 2>} {
  %b, %h, %i0 = attn.tile_position
  %qt = attn.load_tile %q[%b, %h, %i0] : tensor<?x1x?x64xbf16> -> !attn.tile<256x64xbf16>
  %m0 = attn.fill 0xFF800000 : !attn.tile<256xf32>
  %l0 = attn.fill 0.0 : !attn.tile<256xf32>
  %a0 = attn.fill 0.0 : !attn.tile<256x64xf32>
  %r:3 = attn.key_blocks (%j0) iter(%m = %m0, %l = %l0, %acc = %a0) : !attn.tile<256xf32>, !attn.tile<256xf32>, !attn.tile<256x64xf32> {
    %kt = attn.load_tile %k[%b, %h, %j0] : tensor<?x1x?x64xbf16> -> !attn.tile<64x64xbf16>
    %s = attn.dot %qt, %kt : !attn.tile<256x64xbf16>, !attn.tile<64x64xbf16> -> !attn.tile<256x64xf32>
    %m2, %l2, %p, %alpha = attn.online_softmax %s, %m, %l exp2_scale(0.18) : !attn.tile<256x64xf32>, !attn.tile<256xf32>, !attn.tile<256xf32> -> !attn.tile<256xf32>, !attn.tile<256xf32>, !attn.tile<256x64xf32>, !attn.tile<256xf32>
    %pb = attn.cast %p : !attn.tile<256x64xf32> to !attn.tile<256x64xbf16>
    %vt = attn.load_tile %v[%b, %h, %j0] : tensor<?x1x?x64xbf16> -> !attn.tile<64x64xbf16>
    %a2 = attn.accumulate %pb, %vt into %acc scaled_by %alpha : !attn.tile<256x64xbf16>, !attn.tile<64x64xbf16>, !attn.tile<256x64xf32>, !attn.tile<256xf32> -> !attn.tile<256x64xf32>
    attn.yield %m2, %l2, %a2 : !attn.tile<256xf32>, !attn.tile<256xf32>, !attn.tile<256x64xf32>
  }
  %on, %ln = attn.normalize %r#2 by %r#1 max %r#0 exp2_scale(0.18) : !attn.tile<256x64xf32>, !attn.tile<256xf32>, !attn.tile<256xf32> -> !attn.tile<256x64xf32>, !attn.tile<256xf32>
  attn.store_tile %on, %o[%b, %h, %i0] : !attn.tile<256x64xf32>, tensor<?x1x?x64xbf16>
}

// -----

// Fragments have 16 keys.
// expected-error@below {{QM0404: schedule.tile_n = 40 is not supported on NVIDIA targets: with 4 warps it is a multiple of 16}}
// expected-note@below {{help: use --set schedule.tile_n=64}}
attn.kernel @f(%q: tensor<?x1x?x64xbf16>, %k: tensor<?x1x?x64xbf16>, %v: tensor<?x1x?x64xbf16>)
    outs(%o: tensor<?x1x?x64xbf16>)
    attributes {arg_names = ["q", "k", "v", "o"],
      precision = #attn.precision<qk = bf16, pv = bf16, p = bf16, score = f32, stat = f32, acc = f32>,
      schedule = #attn.schedule<target = "sm_80", tile_m = 64, tile_n = 40, warps = 4, stages = 2>} {
  %b, %h, %i0 = attn.tile_position
  %qt = attn.load_tile %q[%b, %h, %i0] : tensor<?x1x?x64xbf16> -> !attn.tile<64x64xbf16>
  %m0 = attn.fill 0xFF800000 : !attn.tile<64xf32>
  %l0 = attn.fill 0.0 : !attn.tile<64xf32>
  %a0 = attn.fill 0.0 : !attn.tile<64x64xf32>
  %r:3 = attn.key_blocks (%j0) iter(%m = %m0, %l = %l0, %acc = %a0) : !attn.tile<64xf32>, !attn.tile<64xf32>, !attn.tile<64x64xf32> {
    %kt = attn.load_tile %k[%b, %h, %j0] : tensor<?x1x?x64xbf16> -> !attn.tile<40x64xbf16>
    %s = attn.dot %qt, %kt : !attn.tile<64x64xbf16>, !attn.tile<40x64xbf16> -> !attn.tile<64x40xf32>
    %m2, %l2, %p, %alpha = attn.online_softmax %s, %m, %l exp2_scale(0.18) : !attn.tile<64x40xf32>, !attn.tile<64xf32>, !attn.tile<64xf32> -> !attn.tile<64xf32>, !attn.tile<64xf32>, !attn.tile<64x40xf32>, !attn.tile<64xf32>
    %pb = attn.cast %p : !attn.tile<64x40xf32> to !attn.tile<64x40xbf16>
    %vt = attn.load_tile %v[%b, %h, %j0] : tensor<?x1x?x64xbf16> -> !attn.tile<40x64xbf16>
    %a2 = attn.accumulate %pb, %vt into %acc scaled_by %alpha : !attn.tile<64x40xbf16>, !attn.tile<40x64xbf16>, !attn.tile<64x64xf32>, !attn.tile<64xf32> -> !attn.tile<64x64xf32>
    attn.yield %m2, %l2, %a2 : !attn.tile<64xf32>, !attn.tile<64xf32>, !attn.tile<64x64xf32>
  }
  %on, %ln = attn.normalize %r#2 by %r#1 max %r#0 exp2_scale(0.18) : !attn.tile<64x64xf32>, !attn.tile<64xf32>, !attn.tile<64xf32> -> !attn.tile<64x64xf32>, !attn.tile<64xf32>
  attn.store_tile %on, %o[%b, %h, %i0] : !attn.tile<64x64xf32>, tensor<?x1x?x64xbf16>
}

// -----

// The ring has two or three slots.
// expected-error@below {{QM0404: schedule.stages = 4 is not supported on NVIDIA targets: the ring of key and value tiles has 2 or 3 slots}}
// expected-note@below {{help: use --set schedule.stages=2}}
attn.kernel @f(%q: tensor<?x1x?x64xbf16>, %k: tensor<?x1x?x64xbf16>, %v: tensor<?x1x?x64xbf16>)
    outs(%o: tensor<?x1x?x64xbf16>)
    attributes {arg_names = ["q", "k", "v", "o"],
      precision = #attn.precision<qk = bf16, pv = bf16, p = bf16, score = f32, stat = f32, acc = f32>,
      schedule = #attn.schedule<target = "sm_80", tile_m = 64, tile_n = 64, warps = 4, stages = 4>} {
  %b, %h, %i0 = attn.tile_position
  %qt = attn.load_tile %q[%b, %h, %i0] : tensor<?x1x?x64xbf16> -> !attn.tile<64x64xbf16>
  %m0 = attn.fill 0xFF800000 : !attn.tile<64xf32>
  %l0 = attn.fill 0.0 : !attn.tile<64xf32>
  %a0 = attn.fill 0.0 : !attn.tile<64x64xf32>
  %r:3 = attn.key_blocks (%j0) iter(%m = %m0, %l = %l0, %acc = %a0) : !attn.tile<64xf32>, !attn.tile<64xf32>, !attn.tile<64x64xf32> {
    %kt = attn.load_tile %k[%b, %h, %j0] : tensor<?x1x?x64xbf16> -> !attn.tile<64x64xbf16>
    %s = attn.dot %qt, %kt : !attn.tile<64x64xbf16>, !attn.tile<64x64xbf16> -> !attn.tile<64x64xf32>
    %m2, %l2, %p, %alpha = attn.online_softmax %s, %m, %l exp2_scale(0.18) : !attn.tile<64x64xf32>, !attn.tile<64xf32>, !attn.tile<64xf32> -> !attn.tile<64xf32>, !attn.tile<64xf32>, !attn.tile<64x64xf32>, !attn.tile<64xf32>
    %pb = attn.cast %p : !attn.tile<64x64xf32> to !attn.tile<64x64xbf16>
    %vt = attn.load_tile %v[%b, %h, %j0] : tensor<?x1x?x64xbf16> -> !attn.tile<64x64xbf16>
    %a2 = attn.accumulate %pb, %vt into %acc scaled_by %alpha : !attn.tile<64x64xbf16>, !attn.tile<64x64xbf16>, !attn.tile<64x64xf32>, !attn.tile<64xf32> -> !attn.tile<64x64xf32>
    attn.yield %m2, %l2, %a2 : !attn.tile<64xf32>, !attn.tile<64xf32>, !attn.tile<64x64xf32>
  }
  %on, %ln = attn.normalize %r#2 by %r#1 max %r#0 exp2_scale(0.18) : !attn.tile<64x64xf32>, !attn.tile<64xf32>, !attn.tile<64xf32> -> !attn.tile<64x64xf32>, !attn.tile<64xf32>
  attn.store_tile %on, %o[%b, %h, %i0] : !attn.tile<64x64xf32>, tensor<?x1x?x64xbf16>
}

// -----

// Ping-pong keeps three blocks.
// expected-error@below {{QM0404: schedule.ping_pong = 1 is not supported on NVIDIA targets: with 4 warps and 2 stages; two groups of warps take turns, and blocks have 3 slots}}
// expected-note@below {{help: use --set schedule.ping_pong=0, or --set schedule.warps=8 --set schedule.stages=3}}
attn.kernel @f(%q: tensor<?x1x?x64xbf16>, %k: tensor<?x1x?x64xbf16>, %v: tensor<?x1x?x64xbf16>)
    outs(%o: tensor<?x1x?x64xbf16>)
    attributes {arg_names = ["q", "k", "v", "o"],
      precision = #attn.precision<qk = bf16, pv = bf16, p = bf16, score = f32, stat = f32, acc = f32>,
      schedule = #attn.schedule<target = "sm_80", tile_m = 64, tile_n = 64, warps = 4, stages = 2, ping_pong = 1>} {
  %b, %h, %i0 = attn.tile_position
  %qt = attn.load_tile %q[%b, %h, %i0] : tensor<?x1x?x64xbf16> -> !attn.tile<64x64xbf16>
  %m0 = attn.fill 0xFF800000 : !attn.tile<64xf32>
  %l0 = attn.fill 0.0 : !attn.tile<64xf32>
  %a0 = attn.fill 0.0 : !attn.tile<64x64xf32>
  %r:3 = attn.key_blocks (%j0) iter(%m = %m0, %l = %l0, %acc = %a0) : !attn.tile<64xf32>, !attn.tile<64xf32>, !attn.tile<64x64xf32> {
    %kt = attn.load_tile %k[%b, %h, %j0] : tensor<?x1x?x64xbf16> -> !attn.tile<64x64xbf16>
    %s = attn.dot %qt, %kt : !attn.tile<64x64xbf16>, !attn.tile<64x64xbf16> -> !attn.tile<64x64xf32>
    %m2, %l2, %p, %alpha = attn.online_softmax %s, %m, %l exp2_scale(0.18) : !attn.tile<64x64xf32>, !attn.tile<64xf32>, !attn.tile<64xf32> -> !attn.tile<64xf32>, !attn.tile<64xf32>, !attn.tile<64x64xf32>, !attn.tile<64xf32>
    %pb = attn.cast %p : !attn.tile<64x64xf32> to !attn.tile<64x64xbf16>
    %vt = attn.load_tile %v[%b, %h, %j0] : tensor<?x1x?x64xbf16> -> !attn.tile<64x64xbf16>
    %a2 = attn.accumulate %pb, %vt into %acc scaled_by %alpha : !attn.tile<64x64xbf16>, !attn.tile<64x64xbf16>, !attn.tile<64x64xf32>, !attn.tile<64xf32> -> !attn.tile<64x64xf32>
    attn.yield %m2, %l2, %a2 : !attn.tile<64xf32>, !attn.tile<64xf32>, !attn.tile<64x64xf32>
  }
  %on, %ln = attn.normalize %r#2 by %r#1 max %r#0 exp2_scale(0.18) : !attn.tile<64x64xf32>, !attn.tile<64xf32>, !attn.tile<64xf32> -> !attn.tile<64x64xf32>, !attn.tile<64xf32>
  attn.store_tile %on, %o[%b, %h, %i0] : !attn.tile<64x64xf32>, tensor<?x1x?x64xbf16>
}

// -----

// Scores and accumulator are in registers.
// expected-error@below {{QM0405: tile_m = 128, tile_n = 128 and 4 warps with head dim 128 need 256 registers a thread for scores and accumulator; the limit is 208}}
// expected-note@below {{help: use a smaller schedule.tile_n, or half the rows a warp (schedule.tile_m=64)}}
attn.kernel @f(%q: tensor<?x1x?x128xbf16>, %k: tensor<?x1x?x128xbf16>, %v: tensor<?x1x?x128xbf16>)
    outs(%o: tensor<?x1x?x128xbf16>)
    attributes {arg_names = ["q", "k", "v", "o"],
      precision = #attn.precision<qk = bf16, pv = bf16, p = bf16, score = f32, stat = f32, acc = f32>,
      schedule = #attn.schedule<target = "sm_80", tile_m = 128, tile_n = 128, warps = 4, stages = 2>} {
  %b, %h, %i0 = attn.tile_position
  %qt = attn.load_tile %q[%b, %h, %i0] : tensor<?x1x?x128xbf16> -> !attn.tile<128x128xbf16>
  %m0 = attn.fill 0xFF800000 : !attn.tile<128xf32>
  %l0 = attn.fill 0.0 : !attn.tile<128xf32>
  %a0 = attn.fill 0.0 : !attn.tile<128x128xf32>
  %r:3 = attn.key_blocks (%j0) iter(%m = %m0, %l = %l0, %acc = %a0) : !attn.tile<128xf32>, !attn.tile<128xf32>, !attn.tile<128x128xf32> {
    %kt = attn.load_tile %k[%b, %h, %j0] : tensor<?x1x?x128xbf16> -> !attn.tile<128x128xbf16>
    %s = attn.dot %qt, %kt : !attn.tile<128x128xbf16>, !attn.tile<128x128xbf16> -> !attn.tile<128x128xf32>
    %m2, %l2, %p, %alpha = attn.online_softmax %s, %m, %l exp2_scale(0.18) : !attn.tile<128x128xf32>, !attn.tile<128xf32>, !attn.tile<128xf32> -> !attn.tile<128xf32>, !attn.tile<128xf32>, !attn.tile<128x128xf32>, !attn.tile<128xf32>
    %pb = attn.cast %p : !attn.tile<128x128xf32> to !attn.tile<128x128xbf16>
    %vt = attn.load_tile %v[%b, %h, %j0] : tensor<?x1x?x128xbf16> -> !attn.tile<128x128xbf16>
    %a2 = attn.accumulate %pb, %vt into %acc scaled_by %alpha : !attn.tile<128x128xbf16>, !attn.tile<128x128xbf16>, !attn.tile<128x128xf32>, !attn.tile<128xf32> -> !attn.tile<128x128xf32>
    attn.yield %m2, %l2, %a2 : !attn.tile<128xf32>, !attn.tile<128xf32>, !attn.tile<128x128xf32>
  }
  %on, %ln = attn.normalize %r#2 by %r#1 max %r#0 exp2_scale(0.18) : !attn.tile<128x128xf32>, !attn.tile<128xf32>, !attn.tile<128xf32> -> !attn.tile<128x128xf32>, !attn.tile<128xf32>
  attn.store_tile %on, %o[%b, %h, %i0] : !attn.tile<128x128xf32>, tensor<?x1x?x128xbf16>
}

// -----

// sm_86 gives a CTA 99 KB.
// expected-error@below {{QM0406: the schedule needs 114704 bytes of shared memory; sm_86 gives a CTA 101376}}
// expected-note@below {{help: use a smaller schedule.tile_m, tile_n or stages}}
attn.kernel @f(%q: tensor<?x1x?x128xbf16>, %k: tensor<?x1x?x128xbf16>, %v: tensor<?x1x?x128xbf16>)
    outs(%o: tensor<?x1x?x128xbf16>)
    attributes {arg_names = ["q", "k", "v", "o"],
      precision = #attn.precision<qk = bf16, pv = bf16, p = bf16, score = f32, stat = f32, acc = f32>,
      schedule = #attn.schedule<target = "sm_86", tile_m = 256, tile_n = 64, warps = 8, stages = 3>} {
  %b, %h, %i0 = attn.tile_position
  %qt = attn.load_tile %q[%b, %h, %i0] : tensor<?x1x?x128xbf16> -> !attn.tile<256x128xbf16>
  %m0 = attn.fill 0xFF800000 : !attn.tile<256xf32>
  %l0 = attn.fill 0.0 : !attn.tile<256xf32>
  %a0 = attn.fill 0.0 : !attn.tile<256x128xf32>
  %r:3 = attn.key_blocks (%j0) iter(%m = %m0, %l = %l0, %acc = %a0) : !attn.tile<256xf32>, !attn.tile<256xf32>, !attn.tile<256x128xf32> {
    %kt = attn.load_tile %k[%b, %h, %j0] : tensor<?x1x?x128xbf16> -> !attn.tile<64x128xbf16>
    %s = attn.dot %qt, %kt : !attn.tile<256x128xbf16>, !attn.tile<64x128xbf16> -> !attn.tile<256x64xf32>
    %m2, %l2, %p, %alpha = attn.online_softmax %s, %m, %l exp2_scale(0.18) : !attn.tile<256x64xf32>, !attn.tile<256xf32>, !attn.tile<256xf32> -> !attn.tile<256xf32>, !attn.tile<256xf32>, !attn.tile<256x64xf32>, !attn.tile<256xf32>
    %pb = attn.cast %p : !attn.tile<256x64xf32> to !attn.tile<256x64xbf16>
    %vt = attn.load_tile %v[%b, %h, %j0] : tensor<?x1x?x128xbf16> -> !attn.tile<64x128xbf16>
    %a2 = attn.accumulate %pb, %vt into %acc scaled_by %alpha : !attn.tile<256x64xbf16>, !attn.tile<64x128xbf16>, !attn.tile<256x128xf32>, !attn.tile<256xf32> -> !attn.tile<256x128xf32>
    attn.yield %m2, %l2, %a2 : !attn.tile<256xf32>, !attn.tile<256xf32>, !attn.tile<256x128xf32>
  }
  %on, %ln = attn.normalize %r#2 by %r#1 max %r#0 exp2_scale(0.18) : !attn.tile<256x128xf32>, !attn.tile<256xf32>, !attn.tile<256xf32> -> !attn.tile<256x128xf32>, !attn.tile<256xf32>
  attn.store_tile %on, %o[%b, %h, %i0] : !attn.tile<256x128xf32>, tensor<?x1x?x128xbf16>
}

// -----

// The maximum is that of the scores before the factor.
attn.kernel @f(%q: tensor<?x1x?x64xbf16>, %k: tensor<?x1x?x64xbf16>, %v: tensor<?x1x?x64xbf16>)
    outs(%o: tensor<?x1x?x64xbf16>)
    attributes {arg_names = ["q", "k", "v", "o"],
      precision = #attn.precision<qk = bf16, pv = bf16, p = bf16, score = f32, stat = f32, acc = f32>,
      schedule = #attn.schedule<target = "sm_80", tile_m = 64, tile_n = 64, warps = 4, stages = 2>} {
  %b, %h, %i0 = attn.tile_position
  %qt = attn.load_tile %q[%b, %h, %i0] : tensor<?x1x?x64xbf16> -> !attn.tile<64x64xbf16>
  %m0 = attn.fill 0xFF800000 : !attn.tile<64xf32>
  %l0 = attn.fill 0.0 : !attn.tile<64xf32>
  %a0 = attn.fill 0.0 : !attn.tile<64x64xf32>
  %r:3 = attn.key_blocks (%j0) iter(%m = %m0, %l = %l0, %acc = %a0) : !attn.tile<64xf32>, !attn.tile<64xf32>, !attn.tile<64x64xf32> {
    %kt = attn.load_tile %k[%b, %h, %j0] : tensor<?x1x?x64xbf16> -> !attn.tile<64x64xbf16>
    %s = attn.dot %qt, %kt : !attn.tile<64x64xbf16>, !attn.tile<64x64xbf16> -> !attn.tile<64x64xf32>
    // expected-error@below {{QM0409: the exponent's factor is -1.800000e-01; it has to be positive and finite}}
    // expected-note@below {{help: use a positive scale}}
    %m2, %l2, %p, %alpha = attn.online_softmax %s, %m, %l exp2_scale(-0.18) : !attn.tile<64x64xf32>, !attn.tile<64xf32>, !attn.tile<64xf32> -> !attn.tile<64xf32>, !attn.tile<64xf32>, !attn.tile<64x64xf32>, !attn.tile<64xf32>
    %pb = attn.cast %p : !attn.tile<64x64xf32> to !attn.tile<64x64xbf16>
    %vt = attn.load_tile %v[%b, %h, %j0] : tensor<?x1x?x64xbf16> -> !attn.tile<64x64xbf16>
    %a2 = attn.accumulate %pb, %vt into %acc scaled_by %alpha : !attn.tile<64x64xbf16>, !attn.tile<64x64xbf16>, !attn.tile<64x64xf32>, !attn.tile<64xf32> -> !attn.tile<64x64xf32>
    attn.yield %m2, %l2, %a2 : !attn.tile<64xf32>, !attn.tile<64xf32>, !attn.tile<64x64xf32>
  }
  %on, %ln = attn.normalize %r#2 by %r#1 max %r#0 exp2_scale(-0.18) : !attn.tile<64x64xf32>, !attn.tile<64xf32>, !attn.tile<64xf32> -> !attn.tile<64x64xf32>, !attn.tile<64xf32>
  attn.store_tile %on, %o[%b, %h, %i0] : !attn.tile<64x64xf32>, tensor<?x1x?x64xbf16>
}

// -----

// Every operation either has machine code or is refused at the user's line.
attn.kernel @f(%q: tensor<?x1x?x64xbf16>, %k: tensor<?x1x?x64xbf16>, %v: tensor<?x1x?x64xbf16>)
    outs(%o: tensor<?x1x?x64xbf16>)
    attributes {arg_names = ["q", "k", "v", "o"],
      precision = #attn.precision<qk = bf16, pv = bf16, p = bf16, score = f32, stat = f32, acc = f32>,
      schedule = #attn.schedule<target = "sm_80", tile_m = 64, tile_n = 64, warps = 4, stages = 2>} {
  %b, %h, %i0 = attn.tile_position
  %qt = attn.load_tile %q[%b, %h, %i0] : tensor<?x1x?x64xbf16> -> !attn.tile<64x64xbf16>
  %m0 = attn.fill 0xFF800000 : !attn.tile<64xf32>
  %l0 = attn.fill 0.0 : !attn.tile<64xf32>
  %a0 = attn.fill 0.0 : !attn.tile<64x64xf32>
  %r:3 = attn.key_blocks (%j0) iter(%m = %m0, %l = %l0, %acc = %a0) : !attn.tile<64xf32>, !attn.tile<64xf32>, !attn.tile<64x64xf32> {
    %kt = attn.load_tile %k[%b, %h, %j0] : tensor<?x1x?x64xbf16> -> !attn.tile<64x64xbf16>
    %s = attn.dot %qt, %kt : !attn.tile<64x64xbf16>, !attn.tile<64x64xbf16> -> !attn.tile<64x64xf32>
    %x = attn.map %s at [%i0, %j0] (%e, %i, %j) {
      // expected-error@below {{QM0408: math.atanh has no machine code on this target}}
      // expected-note@below {{help: compute in f32 and i32, or use --arch=cpu}}
      %t = math.atanh %e : f32
      attn.yield %t : f32
    } : !attn.tile<64x64xf32>
    %m2, %l2, %p, %alpha = attn.online_softmax %x, %m, %l exp2_scale(0.18) : !attn.tile<64x64xf32>, !attn.tile<64xf32>, !attn.tile<64xf32> -> !attn.tile<64xf32>, !attn.tile<64xf32>, !attn.tile<64x64xf32>, !attn.tile<64xf32>
    %pb = attn.cast %p : !attn.tile<64x64xf32> to !attn.tile<64x64xbf16>
    %vt = attn.load_tile %v[%b, %h, %j0] : tensor<?x1x?x64xbf16> -> !attn.tile<64x64xbf16>
    %a2 = attn.accumulate %pb, %vt into %acc scaled_by %alpha : !attn.tile<64x64xbf16>, !attn.tile<64x64xbf16>, !attn.tile<64x64xf32>, !attn.tile<64xf32> -> !attn.tile<64x64xf32>
    attn.yield %m2, %l2, %a2 : !attn.tile<64xf32>, !attn.tile<64xf32>, !attn.tile<64x64xf32>
  }
  %on, %ln = attn.normalize %r#2 by %r#1 max %r#0 exp2_scale(0.18) : !attn.tile<64x64xf32>, !attn.tile<64xf32>, !attn.tile<64xf32> -> !attn.tile<64x64xf32>, !attn.tile<64xf32>
  attn.store_tile %on, %o[%b, %h, %i0] : !attn.tile<64x64xf32>, tensor<?x1x?x64xbf16>
}

// -----

// Arithmetic is done on f32.
attn.kernel @f(%q: tensor<?x1x?x64xbf16>, %k: tensor<?x1x?x64xbf16>, %v: tensor<?x1x?x64xbf16>)
    outs(%o: tensor<?x1x?x64xbf16>)
    attributes {arg_names = ["q", "k", "v", "o"],
      precision = #attn.precision<qk = bf16, pv = bf16, p = bf16, score = f32, stat = f32, acc = f32>,
      schedule = #attn.schedule<target = "sm_80", tile_m = 64, tile_n = 64, warps = 4, stages = 2>} {
  %b, %h, %i0 = attn.tile_position
  %qt = attn.load_tile %q[%b, %h, %i0] : tensor<?x1x?x64xbf16> -> !attn.tile<64x64xbf16>
  %m0 = attn.fill 0xFF800000 : !attn.tile<64xf32>
  %l0 = attn.fill 0.0 : !attn.tile<64xf32>
  %a0 = attn.fill 0.0 : !attn.tile<64x64xf32>
  %r:3 = attn.key_blocks (%j0) iter(%m = %m0, %l = %l0, %acc = %a0) : !attn.tile<64xf32>, !attn.tile<64xf32>, !attn.tile<64x64xf32> {
    %kt = attn.load_tile %k[%b, %h, %j0] : tensor<?x1x?x64xbf16> -> !attn.tile<64x64xbf16>
    %s = attn.dot %qt, %kt : !attn.tile<64x64xbf16>, !attn.tile<64x64xbf16> -> !attn.tile<64x64xf32>
    %x = attn.map %s at [%i0, %j0] (%e, %i, %j) {
      %n = arith.truncf %e : f32 to f16
      // expected-error@below {{QM0408: arith.addf on f16 has no machine code on this target}}
      // expected-note@below {{help: compute in f32 and i32, or use --arch=cpu}}
      %n2 = arith.addf %n, %n : f16
      %t = arith.extf %n2 : f16 to f32
      attn.yield %t : f32
    } : !attn.tile<64x64xf32>
    %m2, %l2, %p, %alpha = attn.online_softmax %x, %m, %l exp2_scale(0.18) : !attn.tile<64x64xf32>, !attn.tile<64xf32>, !attn.tile<64xf32> -> !attn.tile<64xf32>, !attn.tile<64xf32>, !attn.tile<64x64xf32>, !attn.tile<64xf32>
    %pb = attn.cast %p : !attn.tile<64x64xf32> to !attn.tile<64x64xbf16>
    %vt = attn.load_tile %v[%b, %h, %j0] : tensor<?x1x?x64xbf16> -> !attn.tile<64x64xbf16>
    %a2 = attn.accumulate %pb, %vt into %acc scaled_by %alpha : !attn.tile<64x64xbf16>, !attn.tile<64x64xbf16>, !attn.tile<64x64xf32>, !attn.tile<64xf32> -> !attn.tile<64x64xf32>
    attn.yield %m2, %l2, %a2 : !attn.tile<64xf32>, !attn.tile<64xf32>, !attn.tile<64x64xf32>
  }
  %on, %ln = attn.normalize %r#2 by %r#1 max %r#0 exp2_scale(0.18) : !attn.tile<64x64xf32>, !attn.tile<64xf32>, !attn.tile<64xf32> -> !attn.tile<64x64xf32>, !attn.tile<64xf32>
  attn.store_tile %on, %o[%b, %h, %i0] : !attn.tile<64x64xf32>, tensor<?x1x?x64xbf16>
}

// -----

// The value tile is the second tile of a block.
attn.kernel @f(%q: tensor<?x1x?x64xbf16>, %k: tensor<?x1x?x64xbf16>, %v: tensor<?x1x?x64xbf16>)
    outs(%o: tensor<?x1x?x64xbf16>)
    attributes {arg_names = ["q", "k", "v", "o"],
      precision = #attn.precision<qk = bf16, pv = bf16, p = bf16, score = f32, stat = f32, acc = f32>,
      schedule = #attn.schedule<target = "sm_80", tile_m = 64, tile_n = 64, warps = 4, stages = 2>} {
  %b, %h, %i0 = attn.tile_position
  %qt = attn.load_tile %q[%b, %h, %i0] : tensor<?x1x?x64xbf16> -> !attn.tile<64x64xbf16>
  %m0 = attn.fill 0xFF800000 : !attn.tile<64xf32>
  %l0 = attn.fill 0.0 : !attn.tile<64xf32>
  %a0 = attn.fill 0.0 : !attn.tile<64x64xf32>
  // expected-error@below {{QM0407: the loop loads 1 tiles; a key and a value tile needed}}
  %r:3 = attn.key_blocks (%j0) iter(%m = %m0, %l = %l0, %acc = %a0) : !attn.tile<64xf32>, !attn.tile<64xf32>, !attn.tile<64x64xf32> {
    %kt = attn.load_tile %k[%b, %h, %j0] : tensor<?x1x?x64xbf16> -> !attn.tile<64x64xbf16>
    %s = attn.dot %qt, %kt : !attn.tile<64x64xbf16>, !attn.tile<64x64xbf16> -> !attn.tile<64x64xf32>
    %m2, %l2, %p, %alpha = attn.online_softmax %s, %m, %l exp2_scale(0.18) : !attn.tile<64x64xf32>, !attn.tile<64xf32>, !attn.tile<64xf32> -> !attn.tile<64xf32>, !attn.tile<64xf32>, !attn.tile<64x64xf32>, !attn.tile<64xf32>
    %pb = attn.cast %p : !attn.tile<64x64xf32> to !attn.tile<64x64xbf16>
    %a2 = attn.accumulate %pb, %kt into %acc scaled_by %alpha : !attn.tile<64x64xbf16>, !attn.tile<64x64xbf16>, !attn.tile<64x64xf32>, !attn.tile<64xf32> -> !attn.tile<64x64xf32>
    attn.yield %m2, %l2, %a2 : !attn.tile<64xf32>, !attn.tile<64xf32>, !attn.tile<64x64xf32>
  }
  %on, %ln = attn.normalize %r#2 by %r#1 max %r#0 exp2_scale(0.18) : !attn.tile<64x64xf32>, !attn.tile<64xf32>, !attn.tile<64xf32> -> !attn.tile<64x64xf32>, !attn.tile<64xf32>
  attn.store_tile %on, %o[%b, %h, %i0] : !attn.tile<64x64xf32>, tensor<?x1x?x64xbf16>
}
