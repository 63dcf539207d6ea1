// What the sm_75 lowering refuses: each message names the object and both numbers, and a way out.
// RUN: qm-opt %s --pass-pipeline='builtin.module(attn.kernel(qm-expand-gpu-math),qm-lower-to-sm75)' --verify-diagnostics --split-input-file

// Turing's mma.sync has no bf16.
// expected-error@below {{QM0402: operands of type 'bf16' are not supported on sm_75; f16 is}}
// expected-note@below {{help: give q, k and v as f16, or use --arch=sm_80 or --arch=cpu}}
attn.kernel @f(%q: tensor<?x1x?x64xbf16>, %k: tensor<?x1x?x64xbf16>, %v: tensor<?x1x?x64xbf16>)
    outs(%o: tensor<?x1x?x64xbf16>)
    attributes {arg_names = ["q", "k", "v", "o"],
      precision = #attn.precision<qk = bf16, pv = bf16, p = bf16, score = f32, stat = f32, acc = f32>,
      schedule = #attn.schedule<target = "sm_75", tile_m = 64, tile_n = 64, warps = 4, stages = 2>} {
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

// Nor f32.
// expected-error@below {{QM0402: operands of type 'f32' are not supported on sm_75; f16 is}}
// expected-note@below {{help: give q, k and v as f16, or use --arch=sm_80 or --arch=cpu}}
attn.kernel @f(%q: tensor<?x1x?x64xf32>, %k: tensor<?x1x?x64xf32>, %v: tensor<?x1x?x64xf32>)
    outs(%o: tensor<?x1x?x64xf32>)
    attributes {arg_names = ["q", "k", "v", "o"],
      precision = #attn.precision<qk = f32, pv = f32, p = f32, score = f32, stat = f32, acc = f32>,
      schedule = #attn.schedule<target = "sm_75", tile_m = 64, tile_n = 64, warps = 4, stages = 2>} {
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

// No conversion to bf16 either.
attn.kernel @f(%q: tensor<?x1x?x64xf16>, %k: tensor<?x1x?x64xf16>, %v: tensor<?x1x?x64xf16>)
    outs(%o: tensor<?x1x?x64xbf16>)
    attributes {arg_names = ["q", "k", "v", "o"],
      precision = #attn.precision<qk = f16, pv = f16, p = f16, score = f32, stat = f32, acc = f32>,
      schedule = #attn.schedule<target = "sm_75", tile_m = 64, tile_n = 64, warps = 4, stages = 2>} {
  %b, %h, %i0 = attn.tile_position
  %qt = attn.load_tile %q[%b, %h, %i0] : tensor<?x1x?x64xf16> -> !attn.tile<64x64xf16>
  %m0 = attn.fill 0xFF800000 : !attn.tile<64xf32>
  %l0 = attn.fill 0.0 : !attn.tile<64xf32>
  %a0 = attn.fill 0.0 : !attn.tile<64x64xf32>
  %r:3 = attn.key_blocks (%j0) iter(%m = %m0, %l = %l0, %acc = %a0) : !attn.tile<64xf32>, !attn.tile<64xf32>, !attn.tile<64x64xf32> {
    %kt = attn.load_tile %k[%b, %h, %j0] : tensor<?x1x?x64xf16> -> !attn.tile<64x64xf16>
    %s = attn.dot %qt, %kt : !attn.tile<64x64xf16>, !attn.tile<64x64xf16> -> !attn.tile<64x64xf32>
    %m2, %l2, %p, %alpha = attn.online_softmax %s, %m, %l exp2_scale(0.18) : !attn.tile<64x64xf32>, !attn.tile<64xf32>, !attn.tile<64xf32> -> !attn.tile<64xf32>, !attn.tile<64xf32>, !attn.tile<64x64xf32>, !attn.tile<64xf32>
    %pb = attn.cast %p : !attn.tile<64x64xf32> to !attn.tile<64x64xf16>
    %vt = attn.load_tile %v[%b, %h, %j0] : tensor<?x1x?x64xf16> -> !attn.tile<64x64xf16>
    %a2 = attn.accumulate %pb, %vt into %acc scaled_by %alpha : !attn.tile<64x64xf16>, !attn.tile<64x64xf16>, !attn.tile<64x64xf32>, !attn.tile<64xf32> -> !attn.tile<64x64xf32>
    attn.yield %m2, %l2, %a2 : !attn.tile<64xf32>, !attn.tile<64xf32>, !attn.tile<64x64xf32>
  }
  %on, %ln = attn.normalize %r#2 by %r#1 max %r#0 exp2_scale(0.18) : !attn.tile<64x64xf32>, !attn.tile<64xf32>, !attn.tile<64xf32> -> !attn.tile<64x64xf32>, !attn.tile<64xf32>
  // expected-error@below {{QM0402: outputs of type 'bf16' are not supported on sm_75; f16 is}}
  // expected-note@below {{help: return o as f16, or use --arch=sm_80 or --arch=cpu}}
  attn.store_tile %on, %o[%b, %h, %i0] : !attn.tile<64x64xf32>, tensor<?x1x?x64xbf16>
}

// -----

// Probabilities are operands of the second product.
// expected-error@below {{QM0403: precision.pv = 'f32' is not supported}}
// expected-note@below {{help: leave precision.pv at its default}}
attn.kernel @f(%q: tensor<?x1x?x64xf16>, %k: tensor<?x1x?x64xf16>, %v: tensor<?x1x?x64xf16>)
    outs(%o: tensor<?x1x?x64xf16>)
    attributes {arg_names = ["q", "k", "v", "o"],
      precision = #attn.precision<qk = f16, pv = f32, p = f32, score = f32, stat = f32, acc = f32>,
      schedule = #attn.schedule<target = "sm_75", tile_m = 64, tile_n = 64, warps = 4, stages = 2>} {
  %b, %h, %i0 = attn.tile_position
  %qt = attn.load_tile %q[%b, %h, %i0] : tensor<?x1x?x64xf16> -> !attn.tile<64x64xf16>
  %m0 = attn.fill 0xFF800000 : !attn.tile<64xf32>
  %l0 = attn.fill 0.0 : !attn.tile<64xf32>
  %a0 = attn.fill 0.0 : !attn.tile<64x64xf32>
  %r:3 = attn.key_blocks (%j0) iter(%m = %m0, %l = %l0, %acc = %a0) : !attn.tile<64xf32>, !attn.tile<64xf32>, !attn.tile<64x64xf32> {
    %kt = attn.load_tile %k[%b, %h, %j0] : tensor<?x1x?x64xf16> -> !attn.tile<64x64xf16>
    %s = attn.dot %qt, %kt : !attn.tile<64x64xf16>, !attn.tile<64x64xf16> -> !attn.tile<64x64xf32>
    %m2, %l2, %p, %alpha = attn.online_softmax %s, %m, %l exp2_scale(0.18) : !attn.tile<64x64xf32>, !attn.tile<64xf32>, !attn.tile<64xf32> -> !attn.tile<64xf32>, !attn.tile<64xf32>, !attn.tile<64x64xf32>, !attn.tile<64xf32>
    %vt = attn.load_tile %v[%b, %h, %j0] : tensor<?x1x?x64xf16> -> !attn.tile<64x64xf16>
    %a2 = attn.accumulate %p, %vt into %acc scaled_by %alpha : !attn.tile<64x64xf32>, !attn.tile<64x64xf16>, !attn.tile<64x64xf32>, !attn.tile<64xf32> -> !attn.tile<64x64xf32>
    attn.yield %m2, %l2, %a2 : !attn.tile<64xf32>, !attn.tile<64xf32>, !attn.tile<64x64xf32>
  }
  %on, %ln = attn.normalize %r#2 by %r#1 max %r#0 exp2_scale(0.18) : !attn.tile<64x64xf32>, !attn.tile<64xf32>, !attn.tile<64xf32> -> !attn.tile<64x64xf32>, !attn.tile<64xf32>
  attn.store_tile %on, %o[%b, %h, %i0] : !attn.tile<64x64xf32>, tensor<?x1x?x64xf16>
}

// -----

// Rows are moved 16 bytes at a time.
// expected-error@below {{QM0401: query and key head dim 68 is not supported on sm_75; multiples of 8 from 8 to 256 are}}
// expected-note@below {{help: pad the head dim with zeros to 72, or use --arch=cpu}}
attn.kernel @f(%q: tensor<?x1x?x68xf16>, %k: tensor<?x1x?x68xf16>, %v: tensor<?x1x?x68xf16>)
    outs(%o: tensor<?x1x?x68xf16>)
    attributes {arg_names = ["q", "k", "v", "o"],
      precision = #attn.precision<qk = f16, pv = f16, p = f16, score = f32, stat = f32, acc = f32>,
      schedule = #attn.schedule<target = "sm_75", tile_m = 64, tile_n = 64, warps = 4, stages = 2>} {
  %b, %h, %i0 = attn.tile_position
  %qt = attn.load_tile %q[%b, %h, %i0] : tensor<?x1x?x68xf16> -> !attn.tile<64x68xf16>
  %m0 = attn.fill 0xFF800000 : !attn.tile<64xf32>
  %l0 = attn.fill 0.0 : !attn.tile<64xf32>
  %a0 = attn.fill 0.0 : !attn.tile<64x68xf32>
  %r:3 = attn.key_blocks (%j0) iter(%m = %m0, %l = %l0, %acc = %a0) : !attn.tile<64xf32>, !attn.tile<64xf32>, !attn.tile<64x68xf32> {
    %kt = attn.load_tile %k[%b, %h, %j0] : tensor<?x1x?x68xf16> -> !attn.tile<64x68xf16>
    %s = attn.dot %qt, %kt : !attn.tile<64x68xf16>, !attn.tile<64x68xf16> -> !attn.tile<64x64xf32>
    %m2, %l2, %p, %alpha = attn.online_softmax %s, %m, %l exp2_scale(0.18) : !attn.tile<64x64xf32>, !attn.tile<64xf32>, !attn.tile<64xf32> -> !attn.tile<64xf32>, !attn.tile<64xf32>, !attn.tile<64x64xf32>, !attn.tile<64xf32>
    %pb = attn.cast %p : !attn.tile<64x64xf32> to !attn.tile<64x64xf16>
    %vt = attn.load_tile %v[%b, %h, %j0] : tensor<?x1x?x68xf16> -> !attn.tile<64x68xf16>
    %a2 = attn.accumulate %pb, %vt into %acc scaled_by %alpha : !attn.tile<64x64xf16>, !attn.tile<64x68xf16>, !attn.tile<64x68xf32>, !attn.tile<64xf32> -> !attn.tile<64x68xf32>
    attn.yield %m2, %l2, %a2 : !attn.tile<64xf32>, !attn.tile<64xf32>, !attn.tile<64x68xf32>
  }
  %on, %ln = attn.normalize %r#2 by %r#1 max %r#0 exp2_scale(0.18) : !attn.tile<64x68xf32>, !attn.tile<64xf32>, !attn.tile<64xf32> -> !attn.tile<64x68xf32>, !attn.tile<64xf32>
  attn.store_tile %on, %o[%b, %h, %i0] : !attn.tile<64x68xf32>, tensor<?x1x?x68xf16>
}

// -----

// The accumulator of 16 rows does not fit.
// expected-error@below {{QM0401: value head dim 264 is not supported on sm_75}}
// expected-note@below {{help: use --arch=cpu}}
attn.kernel @f(%q: tensor<?x1x?x64xf16>, %k: tensor<?x1x?x64xf16>, %v: tensor<?x1x?x264xf16>)
    outs(%o: tensor<?x1x?x264xf16>)
    attributes {arg_names = ["q", "k", "v", "o"],
      precision = #attn.precision<qk = f16, pv = f16, p = f16, score = f32, stat = f32, acc = f32>,
      schedule = #attn.schedule<target = "sm_75", tile_m = 64, tile_n = 64, warps = 4, stages = 2>} {
  %b, %h, %i0 = attn.tile_position
  %qt = attn.load_tile %q[%b, %h, %i0] : tensor<?x1x?x64xf16> -> !attn.tile<64x64xf16>
  %m0 = attn.fill 0xFF800000 : !attn.tile<64xf32>
  %l0 = attn.fill 0.0 : !attn.tile<64xf32>
  %a0 = attn.fill 0.0 : !attn.tile<64x264xf32>
  %r:3 = attn.key_blocks (%j0) iter(%m = %m0, %l = %l0, %acc = %a0) : !attn.tile<64xf32>, !attn.tile<64xf32>, !attn.tile<64x264xf32> {
    %kt = attn.load_tile %k[%b, %h, %j0] : tensor<?x1x?x64xf16> -> !attn.tile<64x64xf16>
    %s = attn.dot %qt, %kt : !attn.tile<64x64xf16>, !attn.tile<64x64xf16> -> !attn.tile<64x64xf32>
    %m2, %l2, %p, %alpha = attn.online_softmax %s, %m, %l exp2_scale(0.18) : !attn.tile<64x64xf32>, !attn.tile<64xf32>, !attn.tile<64xf32> -> !attn.tile<64xf32>, !attn.tile<64xf32>, !attn.tile<64x64xf32>, !attn.tile<64xf32>
    %pb = attn.cast %p : !attn.tile<64x64xf32> to !attn.tile<64x64xf16>
    %vt = attn.load_tile %v[%b, %h, %j0] : tensor<?x1x?x264xf16> -> !attn.tile<64x264xf16>
    %a2 = attn.accumulate %pb, %vt into %acc scaled_by %alpha : !attn.tile<64x64xf16>, !attn.tile<64x264xf16>, !attn.tile<64x264xf32>, !attn.tile<64xf32> -> !attn.tile<64x264xf32>
    attn.yield %m2, %l2, %a2 : !attn.tile<64xf32>, !attn.tile<64xf32>, !attn.tile<64x264xf32>
  }
  %on, %ln = attn.normalize %r#2 by %r#1 max %r#0 exp2_scale(0.18) : !attn.tile<64x264xf32>, !attn.tile<64xf32>, !attn.tile<64xf32> -> !attn.tile<64x264xf32>, !attn.tile<64xf32>
  attn.store_tile %on, %o[%b, %h, %i0] : !attn.tile<64x264xf32>, tensor<?x1x?x264xf16>
}

// -----

// No layout for nine warps.
// expected-error@below {{QM0404: schedule.warps = 9 is not supported on sm_75: 1 to 8 warps}}
// expected-note@below {{help: use --set schedule.warps=4}}
attn.kernel @f(%q: tensor<?x1x?x64xf16>, %k: tensor<?x1x?x64xf16>, %v: tensor<?x1x?x64xf16>)
    outs(%o: tensor<?x1x?x64xf16>)
    attributes {arg_names = ["q", "k", "v", "o"],
      precision = #attn.precision<qk = f16, pv = f16, p = f16, score = f32, stat = f32, acc = f32>,
      schedule = #attn.schedule<target = "sm_75", tile_m = 144, tile_n = 64, warps = 9, stages = 2>} {
  %b, %h, %i0 = attn.tile_position
  %qt = attn.load_tile %q[%b, %h, %i0] : tensor<?x1x?x64xf16> -> !attn.tile<144x64xf16>
  %m0 = attn.fill 0xFF800000 : !attn.tile<144xf32>
  %l0 = attn.fill 0.0 : !attn.tile<144xf32>
  %a0 = attn.fill 0.0 : !attn.tile<144x64xf32>
  %r:3 = attn.key_blocks (%j0) iter(%m = %m0, %l = %l0, %acc = %a0) : !attn.tile<144xf32>, !attn.tile<144xf32>, !attn.tile<144x64xf32> {
    %kt = attn.load_tile %k[%b, %h, %j0] : tensor<?x1x?x64xf16> -> !attn.tile<64x64xf16>
    %s = attn.dot %qt, %kt : !attn.tile<144x64xf16>, !attn.tile<64x64xf16> -> !attn.tile<144x64xf32>
    %m2, %l2, %p, %alpha = attn.online_softmax %s, %m, %l exp2_scale(0.18) : !attn.tile<144x64xf32>, !attn.tile<144xf32>, !attn.tile<144xf32> -> !attn.tile<144xf32>, !attn.tile<144xf32>, !attn.tile<144x64xf32>, !attn.tile<144xf32>
    %pb = attn.cast %p : !attn.tile<144x64xf32> to !attn.tile<144x64xf16>
    %vt = attn.load_tile %v[%b, %h, %j0] : tensor<?x1x?x64xf16> -> !attn.tile<64x64xf16>
    %a2 = attn.accumulate %pb, %vt into %acc scaled_by %alpha : !attn.tile<144x64xf16>, !attn.tile<64x64xf16>, !attn.tile<144x64xf32>, !attn.tile<144xf32> -> !attn.tile<144x64xf32>
    attn.yield %m2, %l2, %a2 : !attn.tile<144xf32>, !attn.tile<144xf32>, !attn.tile<144x64xf32>
  }
  %on, %ln = attn.normalize %r#2 by %r#1 max %r#0 exp2_scale(0.18) : !attn.tile<144x64xf32>, !attn.tile<144xf32>, !attn.tile<144xf32> -> !attn.tile<144x64xf32>, !attn.tile<144xf32>
  attn.store_tile %on, %o[%b, %h, %i0] : !attn.tile<144x64xf32>, tensor<?x1x?x64xf16>
}

// -----

// The next tile waits in registers: there is no ring.
// expected-error@below {{QM0404: schedule.stages = 3 is not supported on sm_75: there is one key and one value tile in shared memory, the next one waits in registers}}
// expected-note@below {{help: use --set schedule.stages=2}}
attn.kernel @f(%q: tensor<?x1x?x64xf16>, %k: tensor<?x1x?x64xf16>, %v: tensor<?x1x?x64xf16>)
    outs(%o: tensor<?x1x?x64xf16>)
    attributes {arg_names = ["q", "k", "v", "o"],
      precision = #attn.precision<qk = f16, pv = f16, p = f16, score = f32, stat = f32, acc = f32>,
      schedule = #attn.schedule<target = "sm_75", tile_m = 64, tile_n = 64, warps = 4, stages = 3>} {
  %b, %h, %i0 = attn.tile_position
  %qt = attn.load_tile %q[%b, %h, %i0] : tensor<?x1x?x64xf16> -> !attn.tile<64x64xf16>
  %m0 = attn.fill 0xFF800000 : !attn.tile<64xf32>
  %l0 = attn.fill 0.0 : !attn.tile<64xf32>
  %a0 = attn.fill 0.0 : !attn.tile<64x64xf32>
  %r:3 = attn.key_blocks (%j0) iter(%m = %m0, %l = %l0, %acc = %a0) : !attn.tile<64xf32>, !attn.tile<64xf32>, !attn.tile<64x64xf32> {
    %kt = attn.load_tile %k[%b, %h, %j0] : tensor<?x1x?x64xf16> -> !attn.tile<64x64xf16>
    %s = attn.dot %qt, %kt : !attn.tile<64x64xf16>, !attn.tile<64x64xf16> -> !attn.tile<64x64xf32>
    %m2, %l2, %p, %alpha = attn.online_softmax %s, %m, %l exp2_scale(0.18) : !attn.tile<64x64xf32>, !attn.tile<64xf32>, !attn.tile<64xf32> -> !attn.tile<64xf32>, !attn.tile<64xf32>, !attn.tile<64x64xf32>, !attn.tile<64xf32>
    %pb = attn.cast %p : !attn.tile<64x64xf32> to !attn.tile<64x64xf16>
    %vt = attn.load_tile %v[%b, %h, %j0] : tensor<?x1x?x64xf16> -> !attn.tile<64x64xf16>
    %a2 = attn.accumulate %pb, %vt into %acc scaled_by %alpha : !attn.tile<64x64xf16>, !attn.tile<64x64xf16>, !attn.tile<64x64xf32>, !attn.tile<64xf32> -> !attn.tile<64x64xf32>
    attn.yield %m2, %l2, %a2 : !attn.tile<64xf32>, !attn.tile<64xf32>, !attn.tile<64x64xf32>
  }
  %on, %ln = attn.normalize %r#2 by %r#1 max %r#0 exp2_scale(0.18) : !attn.tile<64x64xf32>, !attn.tile<64xf32>, !attn.tile<64xf32> -> !attn.tile<64x64xf32>, !attn.tile<64xf32>
  attn.store_tile %on, %o[%b, %h, %i0] : !attn.tile<64x64xf32>, tensor<?x1x?x64xf16>
}

// -----

// All threads copy 4 rows a warp.
// expected-error@below {{QM0404: schedule.tile_n = 48 is not supported on sm_75: with 8 warps it is a multiple of 32}}
// expected-note@below {{help: use --set schedule.tile_n=64}}
attn.kernel @f(%q: tensor<?x1x?x64xf16>, %k: tensor<?x1x?x64xf16>, %v: tensor<?x1x?x64xf16>)
    outs(%o: tensor<?x1x?x64xf16>)
    attributes {arg_names = ["q", "k", "v", "o"],
      precision = #attn.precision<qk = f16, pv = f16, p = f16, score = f32, stat = f32, acc = f32>,
      schedule = #attn.schedule<target = "sm_75", tile_m = 128, tile_n = 48, warps = 8, stages = 2>} {
  %b, %h, %i0 = attn.tile_position
  %qt = attn.load_tile %q[%b, %h, %i0] : tensor<?x1x?x64xf16> -> !attn.tile<128x64xf16>
  %m0 = attn.fill 0xFF800000 : !attn.tile<128xf32>
  %l0 = attn.fill 0.0 : !attn.tile<128xf32>
  %a0 = attn.fill 0.0 : !attn.tile<128x64xf32>
  %r:3 = attn.key_blocks (%j0) iter(%m = %m0, %l = %l0, %acc = %a0) : !attn.tile<128xf32>, !attn.tile<128xf32>, !attn.tile<128x64xf32> {
    %kt = attn.load_tile %k[%b, %h, %j0] : tensor<?x1x?x64xf16> -> !attn.tile<48x64xf16>
    %s = attn.dot %qt, %kt : !attn.tile<128x64xf16>, !attn.tile<48x64xf16> -> !attn.tile<128x48xf32>
    %m2, %l2, %p, %alpha = attn.online_softmax %s, %m, %l exp2_scale(0.18) : !attn.tile<128x48xf32>, !attn.tile<128xf32>, !attn.tile<128xf32> -> !attn.tile<128xf32>, !attn.tile<128xf32>, !attn.tile<128x48xf32>, !attn.tile<128xf32>
    %pb = attn.cast %p : !attn.tile<128x48xf32> to !attn.tile<128x48xf16>
    %vt = attn.load_tile %v[%b, %h, %j0] : tensor<?x1x?x64xf16> -> !attn.tile<48x64xf16>
    %a2 = attn.accumulate %pb, %vt into %acc scaled_by %alpha : !attn.tile<128x48xf16>, !attn.tile<48x64xf16>, !attn.tile<128x64xf32>, !attn.tile<128xf32> -> !attn.tile<128x64xf32>
    attn.yield %m2, %l2, %a2 : !attn.tile<128xf32>, !attn.tile<128xf32>, !attn.tile<128x64xf32>
  }
  %on, %ln = attn.normalize %r#2 by %r#1 max %r#0 exp2_scale(0.18) : !attn.tile<128x64xf32>, !attn.tile<128xf32>, !attn.tile<128xf32> -> !attn.tile<128x64xf32>, !attn.tile<128xf32>
  attn.store_tile %on, %o[%b, %h, %i0] : !attn.tile<128x64xf32>, tensor<?x1x?x64xf16>
}

// -----

// The keys of a block go to one warp or two.
// expected-error@below {{QM0404: schedule.micro_n = 16 is not supported on sm_75: a warp has all 64 keys of a block or, if their number is even, one half}}
// expected-note@below {{help: use --set schedule.micro_n=64}}
attn.kernel @f(%q: tensor<?x1x?x64xf16>, %k: tensor<?x1x?x64xf16>, %v: tensor<?x1x?x64xf16>)
    outs(%o: tensor<?x1x?x64xf16>)
    attributes {arg_names = ["q", "k", "v", "o"],
      precision = #attn.precision<qk = f16, pv = f16, p = f16, score = f32, stat = f32, acc = f32>,
      schedule = #attn.schedule<target = "sm_75", tile_m = 64, tile_n = 64, warps = 4, stages = 2, micro_m = 16, micro_n = 16>} {
  %b, %h, %i0 = attn.tile_position
  %qt = attn.load_tile %q[%b, %h, %i0] : tensor<?x1x?x64xf16> -> !attn.tile<64x64xf16>
  %m0 = attn.fill 0xFF800000 : !attn.tile<64xf32>
  %l0 = attn.fill 0.0 : !attn.tile<64xf32>
  %a0 = attn.fill 0.0 : !attn.tile<64x64xf32>
  %r:3 = attn.key_blocks (%j0) iter(%m = %m0, %l = %l0, %acc = %a0) : !attn.tile<64xf32>, !attn.tile<64xf32>, !attn.tile<64x64xf32> {
    %kt = attn.load_tile %k[%b, %h, %j0] : tensor<?x1x?x64xf16> -> !attn.tile<64x64xf16>
    %s = attn.dot %qt, %kt : !attn.tile<64x64xf16>, !attn.tile<64x64xf16> -> !attn.tile<64x64xf32>
    %m2, %l2, %p, %alpha = attn.online_softmax %s, %m, %l exp2_scale(0.18) : !attn.tile<64x64xf32>, !attn.tile<64xf32>, !attn.tile<64xf32> -> !attn.tile<64xf32>, !attn.tile<64xf32>, !attn.tile<64x64xf32>, !attn.tile<64xf32>
    %pb = attn.cast %p : !attn.tile<64x64xf32> to !attn.tile<64x64xf16>
    %vt = attn.load_tile %v[%b, %h, %j0] : tensor<?x1x?x64xf16> -> !attn.tile<64x64xf16>
    %a2 = attn.accumulate %pb, %vt into %acc scaled_by %alpha : !attn.tile<64x64xf16>, !attn.tile<64x64xf16>, !attn.tile<64x64xf32>, !attn.tile<64xf32> -> !attn.tile<64x64xf32>
    attn.yield %m2, %l2, %a2 : !attn.tile<64xf32>, !attn.tile<64xf32>, !attn.tile<64x64xf32>
  }
  %on, %ln = attn.normalize %r#2 by %r#1 max %r#0 exp2_scale(0.18) : !attn.tile<64x64xf32>, !attn.tile<64xf32>, !attn.tile<64xf32> -> !attn.tile<64x64xf32>, !attn.tile<64xf32>
  attn.store_tile %on, %o[%b, %h, %i0] : !attn.tile<64x64xf32>, tensor<?x1x?x64xf16>
}

// -----

// A warp has one or two tiles of 16 rows.
// expected-error@below {{QM0404: schedule.micro_m = 64 is not supported on sm_75: a warp has 16 or 32 rows}}
// expected-note@below {{help: use --set schedule.micro_m=32}}
attn.kernel @f(%q: tensor<?x1x?x64xf16>, %k: tensor<?x1x?x64xf16>, %v: tensor<?x1x?x64xf16>)
    outs(%o: tensor<?x1x?x64xf16>)
    attributes {arg_names = ["q", "k", "v", "o"],
      precision = #attn.precision<qk = f16, pv = f16, p = f16, score = f32, stat = f32, acc = f32>,
      schedule = #attn.schedule<target = "sm_75", tile_m = 256, tile_n = 64, warps = 4, stages = 2, micro_m = 64, micro_n = 64>} {
  %b, %h, %i0 = attn.tile_position
  %qt = attn.load_tile %q[%b, %h, %i0] : tensor<?x1x?x64xf16> -> !attn.tile<256x64xf16>
  %m0 = attn.fill 0xFF800000 : !attn.tile<256xf32>
  %l0 = attn.fill 0.0 : !attn.tile<256xf32>
  %a0 = attn.fill 0.0 : !attn.tile<256x64xf32>
  %r:3 = attn.key_blocks (%j0) iter(%m = %m0, %l = %l0, %acc = %a0) : !attn.tile<256xf32>, !attn.tile<256xf32>, !attn.tile<256x64xf32> {
    %kt = attn.load_tile %k[%b, %h, %j0] : tensor<?x1x?x64xf16> -> !attn.tile<64x64xf16>
    %s = attn.dot %qt, %kt : !attn.tile<256x64xf16>, !attn.tile<64x64xf16> -> !attn.tile<256x64xf32>
    %m2, %l2, %p, %alpha = attn.online_softmax %s, %m, %l exp2_scale(0.18) : !attn.tile<256x64xf32>, !attn.tile<256xf32>, !attn.tile<256xf32> -> !attn.tile<256xf32>, !attn.tile<256xf32>, !attn.tile<256x64xf32>, !attn.tile<256xf32>
    %pb = attn.cast %p : !attn.tile<256x64xf32> to !attn.tile<256x64xf16>
    %vt = attn.load_tile %v[%b, %h, %j0] : tensor<?x1x?x64xf16> -> !attn.tile<64x64xf16>
    %a2 = attn.accumulate %pb, %vt into %acc scaled_by %alpha : !attn.tile<256x64xf16>, !attn.tile<64x64xf16>, !attn.tile<256x64xf32>, !attn.tile<256xf32> -> !attn.tile<256x64xf32>
    attn.yield %m2, %l2, %a2 : !attn.tile<256xf32>, !attn.tile<256xf32>, !attn.tile<256x64xf32>
  }
  %on, %ln = attn.normalize %r#2 by %r#1 max %r#0 exp2_scale(0.18) : !attn.tile<256x64xf32>, !attn.tile<256xf32>, !attn.tile<256xf32> -> !attn.tile<256x64xf32>, !attn.tile<256xf32>
  attn.store_tile %on, %o[%b, %h, %i0] : !attn.tile<256x64xf32>, tensor<?x1x?x64xf16>
}

// -----

// Warps and rows have to agree.
// expected-error@below {{QM0404: schedule.tile_m = 128 is not supported on sm_75: 2 warps along the rows with 32 rows each make 64}}
// expected-note@below {{help: use --set schedule.tile_m=64}}
attn.kernel @f(%q: tensor<?x1x?x64xf16>, %k: tensor<?x1x?x64xf16>, %v: tensor<?x1x?x64xf16>)
    outs(%o: tensor<?x1x?x64xf16>)
    attributes {arg_names = ["q", "k", "v", "o"],
      precision = #attn.precision<qk = f16, pv = f16, p = f16, score = f32, stat = f32, acc = f32>,
      schedule = #attn.schedule<target = "sm_75", tile_m = 128, tile_n = 64, warps = 4, stages = 2, micro_m = 32, micro_n = 32>} {
  %b, %h, %i0 = attn.tile_position
  %qt = attn.load_tile %q[%b, %h, %i0] : tensor<?x1x?x64xf16> -> !attn.tile<128x64xf16>
  %m0 = attn.fill 0xFF800000 : !attn.tile<128xf32>
  %l0 = attn.fill 0.0 : !attn.tile<128xf32>
  %a0 = attn.fill 0.0 : !attn.tile<128x64xf32>
  %r:3 = attn.key_blocks (%j0) iter(%m = %m0, %l = %l0, %acc = %a0) : !attn.tile<128xf32>, !attn.tile<128xf32>, !attn.tile<128x64xf32> {
    %kt = attn.load_tile %k[%b, %h, %j0] : tensor<?x1x?x64xf16> -> !attn.tile<64x64xf16>
    %s = attn.dot %qt, %kt : !attn.tile<128x64xf16>, !attn.tile<64x64xf16> -> !attn.tile<128x64xf32>
    %m2, %l2, %p, %alpha = attn.online_softmax %s, %m, %l exp2_scale(0.18) : !attn.tile<128x64xf32>, !attn.tile<128xf32>, !attn.tile<128xf32> -> !attn.tile<128xf32>, !attn.tile<128xf32>, !attn.tile<128x64xf32>, !attn.tile<128xf32>
    %pb = attn.cast %p : !attn.tile<128x64xf32> to !attn.tile<128x64xf16>
    %vt = attn.load_tile %v[%b, %h, %j0] : tensor<?x1x?x64xf16> -> !attn.tile<64x64xf16>
    %a2 = attn.accumulate %pb, %vt into %acc scaled_by %alpha : !attn.tile<128x64xf16>, !attn.tile<64x64xf16>, !attn.tile<128x64xf32>, !attn.tile<128xf32> -> !attn.tile<128x64xf32>
    attn.yield %m2, %l2, %a2 : !attn.tile<128xf32>, !attn.tile<128xf32>, !attn.tile<128x64xf32>
  }
  %on, %ln = attn.normalize %r#2 by %r#1 max %r#0 exp2_scale(0.18) : !attn.tile<128x64xf32>, !attn.tile<128xf32>, !attn.tile<128xf32> -> !attn.tile<128x64xf32>, !attn.tile<128xf32>
  attn.store_tile %on, %o[%b, %h, %i0] : !attn.tile<128x64xf32>, tensor<?x1x?x64xf16>
}

// -----

// Scores and accumulator of 32 rows.
// expected-error@below {{QM0405: 32 rows and 128 keys of a warp with head dim 128 need 256 registers a thread for scores and accumulator; the limit is 192}}
// expected-note@below {{help: use a smaller schedule.tile_n and micro_n, or 16 rows a warp}}
attn.kernel @f(%q: tensor<?x1x?x128xf16>, %k: tensor<?x1x?x128xf16>, %v: tensor<?x1x?x128xf16>)
    outs(%o: tensor<?x1x?x128xf16>)
    attributes {arg_names = ["q", "k", "v", "o"],
      precision = #attn.precision<qk = f16, pv = f16, p = f16, score = f32, stat = f32, acc = f32>,
      schedule = #attn.schedule<target = "sm_75", tile_m = 128, tile_n = 128, warps = 4, stages = 2>} {
  %b, %h, %i0 = attn.tile_position
  %qt = attn.load_tile %q[%b, %h, %i0] : tensor<?x1x?x128xf16> -> !attn.tile<128x128xf16>
  %m0 = attn.fill 0xFF800000 : !attn.tile<128xf32>
  %l0 = attn.fill 0.0 : !attn.tile<128xf32>
  %a0 = attn.fill 0.0 : !attn.tile<128x128xf32>
  %r:3 = attn.key_blocks (%j0) iter(%m = %m0, %l = %l0, %acc = %a0) : !attn.tile<128xf32>, !attn.tile<128xf32>, !attn.tile<128x128xf32> {
    %kt = attn.load_tile %k[%b, %h, %j0] : tensor<?x1x?x128xf16> -> !attn.tile<128x128xf16>
    %s = attn.dot %qt, %kt : !attn.tile<128x128xf16>, !attn.tile<128x128xf16> -> !attn.tile<128x128xf32>
    %m2, %l2, %p, %alpha = attn.online_softmax %s, %m, %l exp2_scale(0.18) : !attn.tile<128x128xf32>, !attn.tile<128xf32>, !attn.tile<128xf32> -> !attn.tile<128xf32>, !attn.tile<128xf32>, !attn.tile<128x128xf32>, !attn.tile<128xf32>
    %pb = attn.cast %p : !attn.tile<128x128xf32> to !attn.tile<128x128xf16>
    %vt = attn.load_tile %v[%b, %h, %j0] : tensor<?x1x?x128xf16> -> !attn.tile<128x128xf16>
    %a2 = attn.accumulate %pb, %vt into %acc scaled_by %alpha : !attn.tile<128x128xf16>, !attn.tile<128x128xf16>, !attn.tile<128x128xf32>, !attn.tile<128xf32> -> !attn.tile<128x128xf32>
    attn.yield %m2, %l2, %a2 : !attn.tile<128xf32>, !attn.tile<128xf32>, !attn.tile<128x128xf32>
  }
  %on, %ln = attn.normalize %r#2 by %r#1 max %r#0 exp2_scale(0.18) : !attn.tile<128x128xf32>, !attn.tile<128xf32>, !attn.tile<128xf32> -> !attn.tile<128x128xf32>, !attn.tile<128xf32>
  attn.store_tile %on, %o[%b, %h, %i0] : !attn.tile<128x128xf32>, tensor<?x1x?x128xf16>
}

// -----

// 64 KB are all there is.
// expected-error@below {{QM0406: the schedule needs 81920 bytes of shared memory; sm_75 gives a CTA 65536}}
// expected-note@below {{help: use a smaller schedule.tile_m or tile_n}}
attn.kernel @f(%q: tensor<?x1x?x128xf16>, %k: tensor<?x1x?x128xf16>, %v: tensor<?x1x?x64xf16>)
    outs(%o: tensor<?x1x?x64xf16>)
    attributes {arg_names = ["q", "k", "v", "o"],
      precision = #attn.precision<qk = f16, pv = f16, p = f16, score = f32, stat = f32, acc = f32>,
      schedule = #attn.schedule<target = "sm_75", tile_m = 64, tile_n = 128, warps = 4, stages = 2>} {
  %b, %h, %i0 = attn.tile_position
  %qt = attn.load_tile %q[%b, %h, %i0] : tensor<?x1x?x128xf16> -> !attn.tile<64x128xf16>
  %m0 = attn.fill 0xFF800000 : !attn.tile<64xf32>
  %l0 = attn.fill 0.0 : !attn.tile<64xf32>
  %a0 = attn.fill 0.0 : !attn.tile<64x64xf32>
  %r:3 = attn.key_blocks (%j0) iter(%m = %m0, %l = %l0, %acc = %a0) : !attn.tile<64xf32>, !attn.tile<64xf32>, !attn.tile<64x64xf32> {
    %kt = attn.load_tile %k[%b, %h, %j0] : tensor<?x1x?x128xf16> -> !attn.tile<128x128xf16>
    %s = attn.dot %qt, %kt : !attn.tile<64x128xf16>, !attn.tile<128x128xf16> -> !attn.tile<64x128xf32>
    %m2, %l2, %p, %alpha = attn.online_softmax %s, %m, %l exp2_scale(0.18) : !attn.tile<64x128xf32>, !attn.tile<64xf32>, !attn.tile<64xf32> -> !attn.tile<64xf32>, !attn.tile<64xf32>, !attn.tile<64x128xf32>, !attn.tile<64xf32>
    %pb = attn.cast %p : !attn.tile<64x128xf32> to !attn.tile<64x128xf16>
    %vt = attn.load_tile %v[%b, %h, %j0] : tensor<?x1x?x64xf16> -> !attn.tile<128x64xf16>
    %a2 = attn.accumulate %pb, %vt into %acc scaled_by %alpha : !attn.tile<64x128xf16>, !attn.tile<128x64xf16>, !attn.tile<64x64xf32>, !attn.tile<64xf32> -> !attn.tile<64x64xf32>
    attn.yield %m2, %l2, %a2 : !attn.tile<64xf32>, !attn.tile<64xf32>, !attn.tile<64x64xf32>
  }
  %on, %ln = attn.normalize %r#2 by %r#1 max %r#0 exp2_scale(0.18) : !attn.tile<64x64xf32>, !attn.tile<64xf32>, !attn.tile<64xf32> -> !attn.tile<64x64xf32>, !attn.tile<64xf32>
  attn.store_tile %on, %o[%b, %h, %i0] : !attn.tile<64x64xf32>, tensor<?x1x?x64xf16>
}
