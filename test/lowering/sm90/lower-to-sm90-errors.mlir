// What the sm_90a lowering refuses: each message names the object and both numbers, and a way out.
// RUN: qm-opt %s --qm-lower-to-sm90 --verify-diagnostics --split-input-file

// Tensor copies move rows in units of 16 bytes.
// expected-error@below {{QM0480: query and key head dim 68 is not supported on sm_90a; multiples of 8 up to 256 are}}
// expected-note@below {{help: pad the head dim to 72, or use --arch=cpu}}
attn.kernel @f(%q: tensor<?x1x?x68xbf16>, %k: tensor<?x1x?x68xbf16>, %v: tensor<?x1x?x68xbf16>) outs(%o: tensor<?x1x?x68xbf16>) attributes {arg_names = ["q", "k", "v", "o"], precision = #attn.precision<qk = bf16, pv = bf16, p = bf16, score = f32, stat = f32, acc = f32>, schedule = #attn.schedule<target = "sm_90a", tile_m = 128, tile_n = 128, warps = 12, stages = 2, consumers = 2, query_buffers = 2, producer_registers = 24, consumer_registers = 240, ping_pong = 1, persistent = 1>} {
  %b, %h, %i0 = attn.tile_position
  %0 = attn.load_tile %q[%b, %h, %i0] : tensor<?x1x?x68xbf16> -> !attn.tile<128x68xbf16>
  %1 = attn.fill 0xFF800000 : !attn.tile<128xf32>
  %2 = attn.fill 0.000000e+00 : !attn.tile<128xf32>
  %3 = attn.fill 0.000000e+00 : !attn.tile<128x68xf32>
  %4:3 = attn.key_blocks (%j0) iter(%m = %1, %l = %2, %acc = %3) : !attn.tile<128xf32>, !attn.tile<128xf32>, !attn.tile<128x68xf32> {
    %5 = attn.load_tile %k[%b, %h, %j0] : tensor<?x1x?x68xbf16> -> !attn.tile<128x68xbf16>
    %6 = attn.dot %0, %5 : !attn.tile<128x68xbf16>, !attn.tile<128x68xbf16> -> !attn.tile<128x128xf32>
    %new_max, %new_sum, %p, %alpha = attn.online_softmax %6, %m, %l exp2_scale(0.180336878) : !attn.tile<128x128xf32>, !attn.tile<128xf32>, !attn.tile<128xf32> -> !attn.tile<128xf32>, !attn.tile<128xf32>, !attn.tile<128x128xf32>, !attn.tile<128xf32>
    %7 = attn.cast %p : !attn.tile<128x128xf32> to !attn.tile<128x128xbf16>
    %8 = attn.load_tile %v[%b, %h, %j0] : tensor<?x1x?x68xbf16> -> !attn.tile<128x68xbf16>
    %9 = attn.accumulate %7, %8 into %acc scaled_by %alpha : !attn.tile<128x128xbf16>, !attn.tile<128x68xbf16>, !attn.tile<128x68xf32>, !attn.tile<128xf32> -> !attn.tile<128x68xf32>
    attn.yield %new_max, %new_sum, %9 : !attn.tile<128xf32>, !attn.tile<128xf32>, !attn.tile<128x68xf32>
  }
  %o_0, %lse = attn.normalize %4#2 by %4#1 max %4#0 exp2_scale(0.180336878) : !attn.tile<128x68xf32>, !attn.tile<128xf32>, !attn.tile<128xf32> -> !attn.tile<128x68xf32>, !attn.tile<128xf32>
  attn.store_tile %o_0, %o[%b, %h, %i0] : !attn.tile<128x68xf32>, tensor<?x1x?x68xbf16>
}

// -----

// The accumulator of 64 rows does not fit the registers.
// expected-error@below {{QM0480: query and key head dim 320 is not supported on sm_90a}}
// expected-note@below {{help: split the head}}
attn.kernel @f(%q: tensor<?x1x?x320xbf16>, %k: tensor<?x1x?x320xbf16>, %v: tensor<?x1x?x320xbf16>) outs(%o: tensor<?x1x?x320xbf16>) attributes {arg_names = ["q", "k", "v", "o"], precision = #attn.precision<qk = bf16, pv = bf16, p = bf16, score = f32, stat = f32, acc = f32>, schedule = #attn.schedule<target = "sm_90a", tile_m = 128, tile_n = 128, warps = 12, stages = 2, consumers = 2, query_buffers = 2, producer_registers = 24, consumer_registers = 240, ping_pong = 1, persistent = 1>} {
  %b, %h, %i0 = attn.tile_position
  %0 = attn.load_tile %q[%b, %h, %i0] : tensor<?x1x?x320xbf16> -> !attn.tile<128x320xbf16>
  %1 = attn.fill 0xFF800000 : !attn.tile<128xf32>
  %2 = attn.fill 0.000000e+00 : !attn.tile<128xf32>
  %3 = attn.fill 0.000000e+00 : !attn.tile<128x320xf32>
  %4:3 = attn.key_blocks (%j0) iter(%m = %1, %l = %2, %acc = %3) : !attn.tile<128xf32>, !attn.tile<128xf32>, !attn.tile<128x320xf32> {
    %5 = attn.load_tile %k[%b, %h, %j0] : tensor<?x1x?x320xbf16> -> !attn.tile<128x320xbf16>
    %6 = attn.dot %0, %5 : !attn.tile<128x320xbf16>, !attn.tile<128x320xbf16> -> !attn.tile<128x128xf32>
    %new_max, %new_sum, %p, %alpha = attn.online_softmax %6, %m, %l exp2_scale(0.180336878) : !attn.tile<128x128xf32>, !attn.tile<128xf32>, !attn.tile<128xf32> -> !attn.tile<128xf32>, !attn.tile<128xf32>, !attn.tile<128x128xf32>, !attn.tile<128xf32>
    %7 = attn.cast %p : !attn.tile<128x128xf32> to !attn.tile<128x128xbf16>
    %8 = attn.load_tile %v[%b, %h, %j0] : tensor<?x1x?x320xbf16> -> !attn.tile<128x320xbf16>
    %9 = attn.accumulate %7, %8 into %acc scaled_by %alpha : !attn.tile<128x128xbf16>, !attn.tile<128x320xbf16>, !attn.tile<128x320xf32>, !attn.tile<128xf32> -> !attn.tile<128x320xf32>
    attn.yield %new_max, %new_sum, %9 : !attn.tile<128xf32>, !attn.tile<128xf32>, !attn.tile<128x320xf32>
  }
  %o_0, %lse = attn.normalize %4#2 by %4#1 max %4#0 exp2_scale(0.180336878) : !attn.tile<128x320xf32>, !attn.tile<128xf32>, !attn.tile<128xf32> -> !attn.tile<128x320xf32>, !attn.tile<128xf32>
  attn.store_tile %o_0, %o[%b, %h, %i0] : !attn.tile<128x320xf32>, tensor<?x1x?x320xbf16>
}

// -----

// wgmma has no f32 operands.
// expected-error@below {{QM0402: operands of type 'f32' are not supported on sm_90a; f16 and bf16 are}}
// expected-note@below {{help: give q, k and v as f16 or bf16}}
attn.kernel @f(%q: tensor<?x1x?x64xf32>, %k: tensor<?x1x?x64xf32>, %v: tensor<?x1x?x64xf32>) outs(%o: tensor<?x1x?x64xf32>) attributes {arg_names = ["q", "k", "v", "o"], precision = #attn.precision<qk = f32, pv = f32, p = f32, score = f32, stat = f32, acc = f32>, schedule = #attn.schedule<target = "sm_90a", tile_m = 128, tile_n = 128, warps = 12, stages = 2, consumers = 2, query_buffers = 2, producer_registers = 24, consumer_registers = 240, ping_pong = 1, persistent = 1>} {
  %b, %h, %i0 = attn.tile_position
  %0 = attn.load_tile %q[%b, %h, %i0] : tensor<?x1x?x64xf32> -> !attn.tile<128x64xf32>
  %1 = attn.fill 0xFF800000 : !attn.tile<128xf32>
  %2 = attn.fill 0.000000e+00 : !attn.tile<128xf32>
  %3 = attn.fill 0.000000e+00 : !attn.tile<128x64xf32>
  %4:3 = attn.key_blocks (%j0) iter(%m = %1, %l = %2, %acc = %3) : !attn.tile<128xf32>, !attn.tile<128xf32>, !attn.tile<128x64xf32> {
    %5 = attn.load_tile %k[%b, %h, %j0] : tensor<?x1x?x64xf32> -> !attn.tile<128x64xf32>
    %6 = attn.dot %0, %5 : !attn.tile<128x64xf32>, !attn.tile<128x64xf32> -> !attn.tile<128x128xf32>
    %new_max, %new_sum, %p, %alpha = attn.online_softmax %6, %m, %l exp2_scale(0.180336878) : !attn.tile<128x128xf32>, !attn.tile<128xf32>, !attn.tile<128xf32> -> !attn.tile<128xf32>, !attn.tile<128xf32>, !attn.tile<128x128xf32>, !attn.tile<128xf32>
    %7 = attn.cast %p : !attn.tile<128x128xf32> to !attn.tile<128x128xf32>
    %8 = attn.load_tile %v[%b, %h, %j0] : tensor<?x1x?x64xf32> -> !attn.tile<128x64xf32>
    %9 = attn.accumulate %7, %8 into %acc scaled_by %alpha : !attn.tile<128x128xf32>, !attn.tile<128x64xf32>, !attn.tile<128x64xf32>, !attn.tile<128xf32> -> !attn.tile<128x64xf32>
    attn.yield %new_max, %new_sum, %9 : !attn.tile<128xf32>, !attn.tile<128xf32>, !attn.tile<128x64xf32>
  }
  %o_0, %lse = attn.normalize %4#2 by %4#1 max %4#0 exp2_scale(0.180336878) : !attn.tile<128x64xf32>, !attn.tile<128xf32>, !attn.tile<128xf32> -> !attn.tile<128x64xf32>, !attn.tile<128xf32>
  attn.store_tile %o_0, %o[%b, %h, %i0] : !attn.tile<128x64xf32>, tensor<?x1x?x64xf32>
}

// -----

// Probabilities are operands of the second product.
// expected-error@below {{QM0403: precision.p = 'f32' is not supported on NVIDIA targets: wgmma takes operands of type 'bf16'}}
// expected-note@below {{help: leave precision.p at its default}}
attn.kernel @f(%q: tensor<?x1x?x64xbf16>, %k: tensor<?x1x?x64xbf16>, %v: tensor<?x1x?x64xbf16>) outs(%o: tensor<?x1x?x64xbf16>) attributes {arg_names = ["q", "k", "v", "o"], precision = #attn.precision<qk = bf16, pv = bf16, p = f32, score = f32, stat = f32, acc = f32>, schedule = #attn.schedule<target = "sm_90a", tile_m = 128, tile_n = 128, warps = 12, stages = 2, consumers = 2, query_buffers = 2, producer_registers = 24, consumer_registers = 240, ping_pong = 1, persistent = 1>} {
  %b, %h, %i0 = attn.tile_position
  %0 = attn.load_tile %q[%b, %h, %i0] : tensor<?x1x?x64xbf16> -> !attn.tile<128x64xbf16>
  %1 = attn.fill 0xFF800000 : !attn.tile<128xf32>
  %2 = attn.fill 0.000000e+00 : !attn.tile<128xf32>
  %3 = attn.fill 0.000000e+00 : !attn.tile<128x64xf32>
  %4:3 = attn.key_blocks (%j0) iter(%m = %1, %l = %2, %acc = %3) : !attn.tile<128xf32>, !attn.tile<128xf32>, !attn.tile<128x64xf32> {
    %5 = attn.load_tile %k[%b, %h, %j0] : tensor<?x1x?x64xbf16> -> !attn.tile<128x64xbf16>
    %6 = attn.dot %0, %5 : !attn.tile<128x64xbf16>, !attn.tile<128x64xbf16> -> !attn.tile<128x128xf32>
    %new_max, %new_sum, %p, %alpha = attn.online_softmax %6, %m, %l exp2_scale(0.180336878) : !attn.tile<128x128xf32>, !attn.tile<128xf32>, !attn.tile<128xf32> -> !attn.tile<128xf32>, !attn.tile<128xf32>, !attn.tile<128x128xf32>, !attn.tile<128xf32>
    %7 = attn.cast %p : !attn.tile<128x128xf32> to !attn.tile<128x128xbf16>
    %8 = attn.load_tile %v[%b, %h, %j0] : tensor<?x1x?x64xbf16> -> !attn.tile<128x64xbf16>
    %9 = attn.accumulate %7, %8 into %acc scaled_by %alpha : !attn.tile<128x128xbf16>, !attn.tile<128x64xbf16>, !attn.tile<128x64xf32>, !attn.tile<128xf32> -> !attn.tile<128x64xf32>
    attn.yield %new_max, %new_sum, %9 : !attn.tile<128xf32>, !attn.tile<128xf32>, !attn.tile<128x64xf32>
  }
  %o_0, %lse = attn.normalize %4#2 by %4#1 max %4#0 exp2_scale(0.180336878) : !attn.tile<128x64xf32>, !attn.tile<128xf32>, !attn.tile<128xf32> -> !attn.tile<128x64xf32>, !attn.tile<128xf32>
  attn.store_tile %o_0, %o[%b, %h, %i0] : !attn.tile<128x64xf32>, tensor<?x1x?x64xbf16>
}

// -----

// A consumer has 64 rows.
// expected-error@below {{QM0481: schedule.tile_m = 192 does not work on sm_90a: a consumer has 64 query rows, so 2 consumers make 128}}
// expected-note@below {{help: use --set schedule.tile_m=128}}
attn.kernel @f(%q: tensor<?x1x?x64xbf16>, %k: tensor<?x1x?x64xbf16>, %v: tensor<?x1x?x64xbf16>) outs(%o: tensor<?x1x?x64xbf16>) attributes {arg_names = ["q", "k", "v", "o"], precision = #attn.precision<qk = bf16, pv = bf16, p = bf16, score = f32, stat = f32, acc = f32>, schedule = #attn.schedule<target = "sm_90a", tile_m = 192, tile_n = 128, warps = 12, stages = 2, consumers = 2, query_buffers = 2, producer_registers = 24, consumer_registers = 240, ping_pong = 1, persistent = 1>} {
  %b, %h, %i0 = attn.tile_position
  %0 = attn.load_tile %q[%b, %h, %i0] : tensor<?x1x?x64xbf16> -> !attn.tile<128x64xbf16>
  %1 = attn.fill 0xFF800000 : !attn.tile<128xf32>
  %2 = attn.fill 0.000000e+00 : !attn.tile<128xf32>
  %3 = attn.fill 0.000000e+00 : !attn.tile<128x64xf32>
  %4:3 = attn.key_blocks (%j0) iter(%m = %1, %l = %2, %acc = %3) : !attn.tile<128xf32>, !attn.tile<128xf32>, !attn.tile<128x64xf32> {
    %5 = attn.load_tile %k[%b, %h, %j0] : tensor<?x1x?x64xbf16> -> !attn.tile<128x64xbf16>
    %6 = attn.dot %0, %5 : !attn.tile<128x64xbf16>, !attn.tile<128x64xbf16> -> !attn.tile<128x128xf32>
    %new_max, %new_sum, %p, %alpha = attn.online_softmax %6, %m, %l exp2_scale(0.180336878) : !attn.tile<128x128xf32>, !attn.tile<128xf32>, !attn.tile<128xf32> -> !attn.tile<128xf32>, !attn.tile<128xf32>, !attn.tile<128x128xf32>, !attn.tile<128xf32>
    %7 = attn.cast %p : !attn.tile<128x128xf32> to !attn.tile<128x128xbf16>
    %8 = attn.load_tile %v[%b, %h, %j0] : tensor<?x1x?x64xbf16> -> !attn.tile<128x64xbf16>
    %9 = attn.accumulate %7, %8 into %acc scaled_by %alpha : !attn.tile<128x128xbf16>, !attn.tile<128x64xbf16>, !attn.tile<128x64xf32>, !attn.tile<128xf32> -> !attn.tile<128x64xf32>
    attn.yield %new_max, %new_sum, %9 : !attn.tile<128xf32>, !attn.tile<128xf32>, !attn.tile<128x64xf32>
  }
  %o_0, %lse = attn.normalize %4#2 by %4#1 max %4#0 exp2_scale(0.180336878) : !attn.tile<128x64xf32>, !attn.tile<128xf32>, !attn.tile<128xf32> -> !attn.tile<128x64xf32>, !attn.tile<128xf32>
  attn.store_tile %o_0, %o[%b, %h, %i0] : !attn.tile<128x64xf32>, tensor<?x1x?x64xbf16>
}

// -----

// Four warps a warpgroup, and one warpgroup more that loads.
// expected-error@below {{QM0481: schedule.warps = 8 does not work on sm_90a: with 2 consumers a CTA has 12 warps}}
// expected-note@below {{help: use --set schedule.warps=12}}
attn.kernel @f(%q: tensor<?x1x?x64xbf16>, %k: tensor<?x1x?x64xbf16>, %v: tensor<?x1x?x64xbf16>) outs(%o: tensor<?x1x?x64xbf16>) attributes {arg_names = ["q", "k", "v", "o"], precision = #attn.precision<qk = bf16, pv = bf16, p = bf16, score = f32, stat = f32, acc = f32>, schedule = #attn.schedule<target = "sm_90a", tile_m = 128, tile_n = 128, warps = 8, stages = 2, consumers = 2, query_buffers = 2, producer_registers = 24, consumer_registers = 240, ping_pong = 1, persistent = 1>} {
  %b, %h, %i0 = attn.tile_position
  %0 = attn.load_tile %q[%b, %h, %i0] : tensor<?x1x?x64xbf16> -> !attn.tile<128x64xbf16>
  %1 = attn.fill 0xFF800000 : !attn.tile<128xf32>
  %2 = attn.fill 0.000000e+00 : !attn.tile<128xf32>
  %3 = attn.fill 0.000000e+00 : !attn.tile<128x64xf32>
  %4:3 = attn.key_blocks (%j0) iter(%m = %1, %l = %2, %acc = %3) : !attn.tile<128xf32>, !attn.tile<128xf32>, !attn.tile<128x64xf32> {
    %5 = attn.load_tile %k[%b, %h, %j0] : tensor<?x1x?x64xbf16> -> !attn.tile<128x64xbf16>
    %6 = attn.dot %0, %5 : !attn.tile<128x64xbf16>, !attn.tile<128x64xbf16> -> !attn.tile<128x128xf32>
    %new_max, %new_sum, %p, %alpha = attn.online_softmax %6, %m, %l exp2_scale(0.180336878) : !attn.tile<128x128xf32>, !attn.tile<128xf32>, !attn.tile<128xf32> -> !attn.tile<128xf32>, !attn.tile<128xf32>, !attn.tile<128x128xf32>, !attn.tile<128xf32>
    %7 = attn.cast %p : !attn.tile<128x128xf32> to !attn.tile<128x128xbf16>
    %8 = attn.load_tile %v[%b, %h, %j0] : tensor<?x1x?x64xbf16> -> !attn.tile<128x64xbf16>
    %9 = attn.accumulate %7, %8 into %acc scaled_by %alpha : !attn.tile<128x128xbf16>, !attn.tile<128x64xbf16>, !attn.tile<128x64xf32>, !attn.tile<128xf32> -> !attn.tile<128x64xf32>
    attn.yield %new_max, %new_sum, %9 : !attn.tile<128xf32>, !attn.tile<128xf32>, !attn.tile<128x64xf32>
  }
  %o_0, %lse = attn.normalize %4#2 by %4#1 max %4#0 exp2_scale(0.180336878) : !attn.tile<128x64xf32>, !attn.tile<128xf32>, !attn.tile<128xf32> -> !attn.tile<128x64xf32>, !attn.tile<128xf32>
  attn.store_tile %o_0, %o[%b, %h, %i0] : !attn.tile<128x64xf32>, tensor<?x1x?x64xbf16>
}

// -----

// No roles at all.
// expected-error@below {{QM0481: schedule.consumers = 0 does not work on sm_90a}}
// expected-note@below {{help: use --set schedule.consumers=2}}
attn.kernel @f(%q: tensor<?x1x?x64xbf16>, %k: tensor<?x1x?x64xbf16>, %v: tensor<?x1x?x64xbf16>) outs(%o: tensor<?x1x?x64xbf16>) attributes {arg_names = ["q", "k", "v", "o"], precision = #attn.precision<qk = bf16, pv = bf16, p = bf16, score = f32, stat = f32, acc = f32>, schedule = #attn.schedule<target = "sm_90a", tile_m = 128, tile_n = 128, warps = 12, stages = 2, query_buffers = 2, producer_registers = 24, consumer_registers = 240, ping_pong = 1, persistent = 1>} {
  %b, %h, %i0 = attn.tile_position
  %0 = attn.load_tile %q[%b, %h, %i0] : tensor<?x1x?x64xbf16> -> !attn.tile<128x64xbf16>
  %1 = attn.fill 0xFF800000 : !attn.tile<128xf32>
  %2 = attn.fill 0.000000e+00 : !attn.tile<128xf32>
  %3 = attn.fill 0.000000e+00 : !attn.tile<128x64xf32>
  %4:3 = attn.key_blocks (%j0) iter(%m = %1, %l = %2, %acc = %3) : !attn.tile<128xf32>, !attn.tile<128xf32>, !attn.tile<128x64xf32> {
    %5 = attn.load_tile %k[%b, %h, %j0] : tensor<?x1x?x64xbf16> -> !attn.tile<128x64xbf16>
    %6 = attn.dot %0, %5 : !attn.tile<128x64xbf16>, !attn.tile<128x64xbf16> -> !attn.tile<128x128xf32>
    %new_max, %new_sum, %p, %alpha = attn.online_softmax %6, %m, %l exp2_scale(0.180336878) : !attn.tile<128x128xf32>, !attn.tile<128xf32>, !attn.tile<128xf32> -> !attn.tile<128xf32>, !attn.tile<128xf32>, !attn.tile<128x128xf32>, !attn.tile<128xf32>
    %7 = attn.cast %p : !attn.tile<128x128xf32> to !attn.tile<128x128xbf16>
    %8 = attn.load_tile %v[%b, %h, %j0] : tensor<?x1x?x64xbf16> -> !attn.tile<128x64xbf16>
    %9 = attn.accumulate %7, %8 into %acc scaled_by %alpha : !attn.tile<128x128xbf16>, !attn.tile<128x64xbf16>, !attn.tile<128x64xf32>, !attn.tile<128xf32> -> !attn.tile<128x64xf32>
    attn.yield %new_max, %new_sum, %9 : !attn.tile<128xf32>, !attn.tile<128xf32>, !attn.tile<128x64xf32>
  }
  %o_0, %lse = attn.normalize %4#2 by %4#1 max %4#0 exp2_scale(0.180336878) : !attn.tile<128x64xf32>, !attn.tile<128xf32>, !attn.tile<128xf32> -> !attn.tile<128x64xf32>, !attn.tile<128xf32>
  attn.store_tile %o_0, %o[%b, %h, %i0] : !attn.tile<128x64xf32>, tensor<?x1x?x64xbf16>
}

// -----

// One stage cannot be filled while it is read.
// expected-error@below {{QM0481: schedule.stages = 1 does not work on sm_90a: the rings have 2 to 8 stages}}
// expected-note@below {{help: use --set schedule.stages=2}}
attn.kernel @f(%q: tensor<?x1x?x64xbf16>, %k: tensor<?x1x?x64xbf16>, %v: tensor<?x1x?x64xbf16>) outs(%o: tensor<?x1x?x64xbf16>) attributes {arg_names = ["q", "k", "v", "o"], precision = #attn.precision<qk = bf16, pv = bf16, p = bf16, score = f32, stat = f32, acc = f32>, schedule = #attn.schedule<target = "sm_90a", tile_m = 128, tile_n = 128, warps = 12, stages = 1, consumers = 2, query_buffers = 2, producer_registers = 24, consumer_registers = 240, ping_pong = 1, persistent = 1>} {
  %b, %h, %i0 = attn.tile_position
  %0 = attn.load_tile %q[%b, %h, %i0] : tensor<?x1x?x64xbf16> -> !attn.tile<128x64xbf16>
  %1 = attn.fill 0xFF800000 : !attn.tile<128xf32>
  %2 = attn.fill 0.000000e+00 : !attn.tile<128xf32>
  %3 = attn.fill 0.000000e+00 : !attn.tile<128x64xf32>
  %4:3 = attn.key_blocks (%j0) iter(%m = %1, %l = %2, %acc = %3) : !attn.tile<128xf32>, !attn.tile<128xf32>, !attn.tile<128x64xf32> {
    %5 = attn.load_tile %k[%b, %h, %j0] : tensor<?x1x?x64xbf16> -> !attn.tile<128x64xbf16>
    %6 = attn.dot %0, %5 : !attn.tile<128x64xbf16>, !attn.tile<128x64xbf16> -> !attn.tile<128x128xf32>
    %new_max, %new_sum, %p, %alpha = attn.online_softmax %6, %m, %l exp2_scale(0.180336878) : !attn.tile<128x128xf32>, !attn.tile<128xf32>, !attn.tile<128xf32> -> !attn.tile<128xf32>, !attn.tile<128xf32>, !attn.tile<128x128xf32>, !attn.tile<128xf32>
    %7 = attn.cast %p : !attn.tile<128x128xf32> to !attn.tile<128x128xbf16>
    %8 = attn.load_tile %v[%b, %h, %j0] : tensor<?x1x?x64xbf16> -> !attn.tile<128x64xbf16>
    %9 = attn.accumulate %7, %8 into %acc scaled_by %alpha : !attn.tile<128x128xbf16>, !attn.tile<128x64xbf16>, !attn.tile<128x64xf32>, !attn.tile<128xf32> -> !attn.tile<128x64xf32>
    attn.yield %new_max, %new_sum, %9 : !attn.tile<128xf32>, !attn.tile<128xf32>, !attn.tile<128x64xf32>
  }
  %o_0, %lse = attn.normalize %4#2 by %4#1 max %4#0 exp2_scale(0.180336878) : !attn.tile<128x64xf32>, !attn.tile<128xf32>, !attn.tile<128xf32> -> !attn.tile<128x64xf32>, !attn.tile<128xf32>
  attn.store_tile %o_0, %o[%b, %h, %i0] : !attn.tile<128x64xf32>, tensor<?x1x?x64xbf16>
}

// -----

// Three query buffers have no use.
// expected-error@below {{QM0481: schedule.query_buffers = 3 does not work on sm_90a: 1 or 2}}
// expected-note@below {{help: use --set schedule.query_buffers=2}}
attn.kernel @f(%q: tensor<?x1x?x64xbf16>, %k: tensor<?x1x?x64xbf16>, %v: tensor<?x1x?x64xbf16>) outs(%o: tensor<?x1x?x64xbf16>) attributes {arg_names = ["q", "k", "v", "o"], precision = #attn.precision<qk = bf16, pv = bf16, p = bf16, score = f32, stat = f32, acc = f32>, schedule = #attn.schedule<target = "sm_90a", tile_m = 128, tile_n = 128, warps = 12, stages = 2, consumers = 2, query_buffers = 3, producer_registers = 24, consumer_registers = 240, ping_pong = 1, persistent = 1>} {
  %b, %h, %i0 = attn.tile_position
  %0 = attn.load_tile %q[%b, %h, %i0] : tensor<?x1x?x64xbf16> -> !attn.tile<128x64xbf16>
  %1 = attn.fill 0xFF800000 : !attn.tile<128xf32>
  %2 = attn.fill 0.000000e+00 : !attn.tile<128xf32>
  %3 = attn.fill 0.000000e+00 : !attn.tile<128x64xf32>
  %4:3 = attn.key_blocks (%j0) iter(%m = %1, %l = %2, %acc = %3) : !attn.tile<128xf32>, !attn.tile<128xf32>, !attn.tile<128x64xf32> {
    %5 = attn.load_tile %k[%b, %h, %j0] : tensor<?x1x?x64xbf16> -> !attn.tile<128x64xbf16>
    %6 = attn.dot %0, %5 : !attn.tile<128x64xbf16>, !attn.tile<128x64xbf16> -> !attn.tile<128x128xf32>
    %new_max, %new_sum, %p, %alpha = attn.online_softmax %6, %m, %l exp2_scale(0.180336878) : !attn.tile<128x128xf32>, !attn.tile<128xf32>, !attn.tile<128xf32> -> !attn.tile<128xf32>, !attn.tile<128xf32>, !attn.tile<128x128xf32>, !attn.tile<128xf32>
    %7 = attn.cast %p : !attn.tile<128x128xf32> to !attn.tile<128x128xbf16>
    %8 = attn.load_tile %v[%b, %h, %j0] : tensor<?x1x?x64xbf16> -> !attn.tile<128x64xbf16>
    %9 = attn.accumulate %7, %8 into %acc scaled_by %alpha : !attn.tile<128x128xbf16>, !attn.tile<128x64xbf16>, !attn.tile<128x64xf32>, !attn.tile<128xf32> -> !attn.tile<128x64xf32>
    attn.yield %new_max, %new_sum, %9 : !attn.tile<128xf32>, !attn.tile<128xf32>, !attn.tile<128x64xf32>
  }
  %o_0, %lse = attn.normalize %4#2 by %4#1 max %4#0 exp2_scale(0.180336878) : !attn.tile<128x64xf32>, !attn.tile<128xf32>, !attn.tile<128xf32> -> !attn.tile<128x64xf32>, !attn.tile<128xf32>
  attn.store_tile %o_0, %o[%b, %h, %i0] : !attn.tile<128x64xf32>, tensor<?x1x?x64xbf16>
}

// -----

// setmaxnreg counts in eights.
// expected-error@below {{QM0481: schedule.consumer_registers = 236 does not work on sm_90a: it is a multiple of 8 from 24 to 256}}
// expected-note@below {{help: leave schedule.consumer_registers at its default}}
attn.kernel @f(%q: tensor<?x1x?x64xbf16>, %k: tensor<?x1x?x64xbf16>, %v: tensor<?x1x?x64xbf16>) outs(%o: tensor<?x1x?x64xbf16>) attributes {arg_names = ["q", "k", "v", "o"], precision = #attn.precision<qk = bf16, pv = bf16, p = bf16, score = f32, stat = f32, acc = f32>, schedule = #attn.schedule<target = "sm_90a", tile_m = 128, tile_n = 128, warps = 12, stages = 2, consumers = 2, query_buffers = 2, producer_registers = 24, consumer_registers = 236, ping_pong = 1, persistent = 1>} {
  %b, %h, %i0 = attn.tile_position
  %0 = attn.load_tile %q[%b, %h, %i0] : tensor<?x1x?x64xbf16> -> !attn.tile<128x64xbf16>
  %1 = attn.fill 0xFF800000 : !attn.tile<128xf32>
  %2 = attn.fill 0.000000e+00 : !attn.tile<128xf32>
  %3 = attn.fill 0.000000e+00 : !attn.tile<128x64xf32>
  %4:3 = attn.key_blocks (%j0) iter(%m = %1, %l = %2, %acc = %3) : !attn.tile<128xf32>, !attn.tile<128xf32>, !attn.tile<128x64xf32> {
    %5 = attn.load_tile %k[%b, %h, %j0] : tensor<?x1x?x64xbf16> -> !attn.tile<128x64xbf16>
    %6 = attn.dot %0, %5 : !attn.tile<128x64xbf16>, !attn.tile<128x64xbf16> -> !attn.tile<128x128xf32>
    %new_max, %new_sum, %p, %alpha = attn.online_softmax %6, %m, %l exp2_scale(0.180336878) : !attn.tile<128x128xf32>, !attn.tile<128xf32>, !attn.tile<128xf32> -> !attn.tile<128xf32>, !attn.tile<128xf32>, !attn.tile<128x128xf32>, !attn.tile<128xf32>
    %7 = attn.cast %p : !attn.tile<128x128xf32> to !attn.tile<128x128xbf16>
    %8 = attn.load_tile %v[%b, %h, %j0] : tensor<?x1x?x64xbf16> -> !attn.tile<128x64xbf16>
    %9 = attn.accumulate %7, %8 into %acc scaled_by %alpha : !attn.tile<128x128xbf16>, !attn.tile<128x64xbf16>, !attn.tile<128x64xf32>, !attn.tile<128xf32> -> !attn.tile<128x64xf32>
    attn.yield %new_max, %new_sum, %9 : !attn.tile<128xf32>, !attn.tile<128xf32>, !attn.tile<128x64xf32>
  }
  %o_0, %lse = attn.normalize %4#2 by %4#1 max %4#0 exp2_scale(0.180336878) : !attn.tile<128x64xf32>, !attn.tile<128xf32>, !attn.tile<128xf32> -> !attn.tile<128x64xf32>, !attn.tile<128xf32>
  attn.store_tile %o_0, %o[%b, %h, %i0] : !attn.tile<128x64xf32>, tensor<?x1x?x64xbf16>
}

// -----

// More registers than a multiprocessor has.
// expected-error@below {{QM0405: roles with 40 and 2 times 240 registers a thread need 66560; a multiprocessor has 65536}}
// expected-note@below {{help: lower schedule.consumer_registers}}
attn.kernel @f(%q: tensor<?x1x?x64xbf16>, %k: tensor<?x1x?x64xbf16>, %v: tensor<?x1x?x64xbf16>) outs(%o: tensor<?x1x?x64xbf16>) attributes {arg_names = ["q", "k", "v", "o"], precision = #attn.precision<qk = bf16, pv = bf16, p = bf16, score = f32, stat = f32, acc = f32>, schedule = #attn.schedule<target = "sm_90a", tile_m = 128, tile_n = 128, warps = 12, stages = 2, consumers = 2, query_buffers = 2, producer_registers = 40, consumer_registers = 240, ping_pong = 1, persistent = 1>} {
  %b, %h, %i0 = attn.tile_position
  %0 = attn.load_tile %q[%b, %h, %i0] : tensor<?x1x?x64xbf16> -> !attn.tile<128x64xbf16>
  %1 = attn.fill 0xFF800000 : !attn.tile<128xf32>
  %2 = attn.fill 0.000000e+00 : !attn.tile<128xf32>
  %3 = attn.fill 0.000000e+00 : !attn.tile<128x64xf32>
  %4:3 = attn.key_blocks (%j0) iter(%m = %1, %l = %2, %acc = %3) : !attn.tile<128xf32>, !attn.tile<128xf32>, !attn.tile<128x64xf32> {
    %5 = attn.load_tile %k[%b, %h, %j0] : tensor<?x1x?x64xbf16> -> !attn.tile<128x64xbf16>
    %6 = attn.dot %0, %5 : !attn.tile<128x64xbf16>, !attn.tile<128x64xbf16> -> !attn.tile<128x128xf32>
    %new_max, %new_sum, %p, %alpha = attn.online_softmax %6, %m, %l exp2_scale(0.180336878) : !attn.tile<128x128xf32>, !attn.tile<128xf32>, !attn.tile<128xf32> -> !attn.tile<128xf32>, !attn.tile<128xf32>, !attn.tile<128x128xf32>, !attn.tile<128xf32>
    %7 = attn.cast %p : !attn.tile<128x128xf32> to !attn.tile<128x128xbf16>
    %8 = attn.load_tile %v[%b, %h, %j0] : tensor<?x1x?x64xbf16> -> !attn.tile<128x64xbf16>
    %9 = attn.accumulate %7, %8 into %acc scaled_by %alpha : !attn.tile<128x128xbf16>, !attn.tile<128x64xbf16>, !attn.tile<128x64xf32>, !attn.tile<128xf32> -> !attn.tile<128x64xf32>
    attn.yield %new_max, %new_sum, %9 : !attn.tile<128xf32>, !attn.tile<128xf32>, !attn.tile<128x64xf32>
  }
  %o_0, %lse = attn.normalize %4#2 by %4#1 max %4#0 exp2_scale(0.180336878) : !attn.tile<128x64xf32>, !attn.tile<128xf32>, !attn.tile<128xf32> -> !attn.tile<128x64xf32>, !attn.tile<128xf32>
  attn.store_tile %o_0, %o[%b, %h, %i0] : !attn.tile<128x64xf32>, tensor<?x1x?x64xbf16>
}

// -----

// A key block too wide for the registers.
// expected-error@below {{QM0405: tile_n = 128 with value head dim 64 needs about 158 registers a thread; a consumer has 152}}
// expected-note@below {{help: use a smaller schedule.tile_n}}
attn.kernel @f(%q: tensor<?x1x?x64xbf16>, %k: tensor<?x1x?x64xbf16>, %v: tensor<?x1x?x64xbf16>) outs(%o: tensor<?x1x?x64xbf16>) attributes {arg_names = ["q", "k", "v", "o"], precision = #attn.precision<qk = bf16, pv = bf16, p = bf16, score = f32, stat = f32, acc = f32>, schedule = #attn.schedule<target = "sm_90a", tile_m = 128, tile_n = 128, warps = 12, stages = 2, consumers = 2, query_buffers = 2, producer_registers = 24, consumer_registers = 152, ping_pong = 1, persistent = 1>} {
  %b, %h, %i0 = attn.tile_position
  %0 = attn.load_tile %q[%b, %h, %i0] : tensor<?x1x?x64xbf16> -> !attn.tile<128x64xbf16>
  %1 = attn.fill 0xFF800000 : !attn.tile<128xf32>
  %2 = attn.fill 0.000000e+00 : !attn.tile<128xf32>
  %3 = attn.fill 0.000000e+00 : !attn.tile<128x64xf32>
  %4:3 = attn.key_blocks (%j0) iter(%m = %1, %l = %2, %acc = %3) : !attn.tile<128xf32>, !attn.tile<128xf32>, !attn.tile<128x64xf32> {
    %5 = attn.load_tile %k[%b, %h, %j0] : tensor<?x1x?x64xbf16> -> !attn.tile<128x64xbf16>
    %6 = attn.dot %0, %5 : !attn.tile<128x64xbf16>, !attn.tile<128x64xbf16> -> !attn.tile<128x128xf32>
    %new_max, %new_sum, %p, %alpha = attn.online_softmax %6, %m, %l exp2_scale(0.180336878) : !attn.tile<128x128xf32>, !attn.tile<128xf32>, !attn.tile<128xf32> -> !attn.tile<128xf32>, !attn.tile<128xf32>, !attn.tile<128x128xf32>, !attn.tile<128xf32>
    %7 = attn.cast %p : !attn.tile<128x128xf32> to !attn.tile<128x128xbf16>
    %8 = attn.load_tile %v[%b, %h, %j0] : tensor<?x1x?x64xbf16> -> !attn.tile<128x64xbf16>
    %9 = attn.accumulate %7, %8 into %acc scaled_by %alpha : !attn.tile<128x128xbf16>, !attn.tile<128x64xbf16>, !attn.tile<128x64xf32>, !attn.tile<128xf32> -> !attn.tile<128x64xf32>
    attn.yield %new_max, %new_sum, %9 : !attn.tile<128xf32>, !attn.tile<128xf32>, !attn.tile<128x64xf32>
  }
  %o_0, %lse = attn.normalize %4#2 by %4#1 max %4#0 exp2_scale(0.180336878) : !attn.tile<128x64xf32>, !attn.tile<128xf32>, !attn.tile<128xf32> -> !attn.tile<128x64xf32>, !attn.tile<128xf32>
  attn.store_tile %o_0, %o[%b, %h, %i0] : !attn.tile<128x64xf32>, tensor<?x1x?x64xbf16>
}

// -----

// More shared memory than a CTA gets.
// expected-error@below {{QM0406: the schedule needs 295424 bytes of shared memory; sm_90a gives a CTA 232448}}
// expected-note@below {{help: use a smaller schedule.tile_n}}
attn.kernel @f(%q: tensor<?x1x?x64xbf16>, %k: tensor<?x1x?x64xbf16>, %v: tensor<?x1x?x64xbf16>) outs(%o: tensor<?x1x?x64xbf16>) attributes {arg_names = ["q", "k", "v", "o"], precision = #attn.precision<qk = bf16, pv = bf16, p = bf16, score = f32, stat = f32, acc = f32>, schedule = #attn.schedule<target = "sm_90a", tile_m = 128, tile_n = 128, warps = 12, stages = 8, consumers = 2, query_buffers = 2, producer_registers = 24, consumer_registers = 240, ping_pong = 1, persistent = 1>} {
  %b, %h, %i0 = attn.tile_position
  %0 = attn.load_tile %q[%b, %h, %i0] : tensor<?x1x?x64xbf16> -> !attn.tile<128x64xbf16>
  %1 = attn.fill 0xFF800000 : !attn.tile<128xf32>
  %2 = attn.fill 0.000000e+00 : !attn.tile<128xf32>
  %3 = attn.fill 0.000000e+00 : !attn.tile<128x64xf32>
  %4:3 = attn.key_blocks (%j0) iter(%m = %1, %l = %2, %acc = %3) : !attn.tile<128xf32>, !attn.tile<128xf32>, !attn.tile<128x64xf32> {
    %5 = attn.load_tile %k[%b, %h, %j0] : tensor<?x1x?x64xbf16> -> !attn.tile<128x64xbf16>
    %6 = attn.dot %0, %5 : !attn.tile<128x64xbf16>, !attn.tile<128x64xbf16> -> !attn.tile<128x128xf32>
    %new_max, %new_sum, %p, %alpha = attn.online_softmax %6, %m, %l exp2_scale(0.180336878) : !attn.tile<128x128xf32>, !attn.tile<128xf32>, !attn.tile<128xf32> -> !attn.tile<128xf32>, !attn.tile<128xf32>, !attn.tile<128x128xf32>, !attn.tile<128xf32>
    %7 = attn.cast %p : !attn.tile<128x128xf32> to !attn.tile<128x128xbf16>
    %8 = attn.load_tile %v[%b, %h, %j0] : tensor<?x1x?x64xbf16> -> !attn.tile<128x64xbf16>
    %9 = attn.accumulate %7, %8 into %acc scaled_by %alpha : !attn.tile<128x128xbf16>, !attn.tile<128x64xbf16>, !attn.tile<128x64xf32>, !attn.tile<128xf32> -> !attn.tile<128x64xf32>
    attn.yield %new_max, %new_sum, %9 : !attn.tile<128xf32>, !attn.tile<128xf32>, !attn.tile<128x64xf32>
  }
  %o_0, %lse = attn.normalize %4#2 by %4#1 max %4#0 exp2_scale(0.180336878) : !attn.tile<128x64xf32>, !attn.tile<128xf32>, !attn.tile<128xf32> -> !attn.tile<128x64xf32>, !attn.tile<128xf32>
  attn.store_tile %o_0, %o[%b, %h, %i0] : !attn.tile<128x64xf32>, tensor<?x1x?x64xbf16>
}

// -----

// The exponent would fall where scores rise.
attn.kernel @f(%q: tensor<?x1x?x64xbf16>, %k: tensor<?x1x?x64xbf16>, %v: tensor<?x1x?x64xbf16>) outs(%o: tensor<?x1x?x64xbf16>) attributes {arg_names = ["q", "k", "v", "o"], precision = #attn.precision<qk = bf16, pv = bf16, p = bf16, score = f32, stat = f32, acc = f32>, schedule = #attn.schedule<target = "sm_90a", tile_m = 128, tile_n = 128, warps = 12, stages = 2, consumers = 2, query_buffers = 2, producer_registers = 24, consumer_registers = 240, ping_pong = 1, persistent = 1>} {
  %b, %h, %i0 = attn.tile_position
  %0 = attn.load_tile %q[%b, %h, %i0] : tensor<?x1x?x64xbf16> -> !attn.tile<128x64xbf16>
  %1 = attn.fill 0xFF800000 : !attn.tile<128xf32>
  %2 = attn.fill 0.000000e+00 : !attn.tile<128xf32>
  %3 = attn.fill 0.000000e+00 : !attn.tile<128x64xf32>
  %4:3 = attn.key_blocks (%j0) iter(%m = %1, %l = %2, %acc = %3) : !attn.tile<128xf32>, !attn.tile<128xf32>, !attn.tile<128x64xf32> {
    %5 = attn.load_tile %k[%b, %h, %j0] : tensor<?x1x?x64xbf16> -> !attn.tile<128x64xbf16>
    %6 = attn.dot %0, %5 : !attn.tile<128x64xbf16>, !attn.tile<128x64xbf16> -> !attn.tile<128x128xf32>
    // expected-error@below {{QM0409: the exponent}}
    // expected-note@below {{help: use a positive scale}}
    %new_max, %new_sum, %p, %alpha = attn.online_softmax %6, %m, %l exp2_scale(-0.180336878) : !attn.tile<128x128xf32>, !attn.tile<128xf32>, !attn.tile<128xf32> -> !attn.tile<128xf32>, !attn.tile<128xf32>, !attn.tile<128x128xf32>, !attn.tile<128xf32>
    %7 = attn.cast %p : !attn.tile<128x128xf32> to !attn.tile<128x128xbf16>
    %8 = attn.load_tile %v[%b, %h, %j0] : tensor<?x1x?x64xbf16> -> !attn.tile<128x64xbf16>
    %9 = attn.accumulate %7, %8 into %acc scaled_by %alpha : !attn.tile<128x128xbf16>, !attn.tile<128x64xbf16>, !attn.tile<128x64xf32>, !attn.tile<128xf32> -> !attn.tile<128x64xf32>
    attn.yield %new_max, %new_sum, %9 : !attn.tile<128xf32>, !attn.tile<128xf32>, !attn.tile<128x64xf32>
  }
  %o_0, %lse = attn.normalize %4#2 by %4#1 max %4#0 exp2_scale(0.180336878) : !attn.tile<128x64xf32>, !attn.tile<128xf32>, !attn.tile<128xf32> -> !attn.tile<128x64xf32>, !attn.tile<128xf32>
  attn.store_tile %o_0, %o[%b, %h, %i0] : !attn.tile<128x64xf32>, tensor<?x1x?x64xbf16>
}

// -----

// Only attention: the second product is with the value tile.
attn.kernel @f(%q: tensor<?x1x?x64xbf16>, %k: tensor<?x1x?x64xbf16>, %v: tensor<?x1x?x64xbf16>) outs(%o: tensor<?x1x?x64xbf16>) attributes {arg_names = ["q", "k", "v", "o"], precision = #attn.precision<qk = bf16, pv = bf16, p = bf16, score = f32, stat = f32, acc = f32>, schedule = #attn.schedule<target = "sm_90a", tile_m = 128, tile_n = 128, warps = 12, stages = 2, consumers = 2, query_buffers = 2, producer_registers = 24, consumer_registers = 240, ping_pong = 1, persistent = 1>} {
  %b, %h, %i0 = attn.tile_position
  %0 = attn.load_tile %q[%b, %h, %i0] : tensor<?x1x?x64xbf16> -> !attn.tile<128x64xbf16>
  %1 = attn.fill 0xFF800000 : !attn.tile<128xf32>
  %2 = attn.fill 0.000000e+00 : !attn.tile<128xf32>
  %3 = attn.fill 0.000000e+00 : !attn.tile<128x64xf32>
  %4:3 = attn.key_blocks (%j0) iter(%m = %1, %l = %2, %acc = %3) : !attn.tile<128xf32>, !attn.tile<128xf32>, !attn.tile<128x64xf32> {
    %5 = attn.load_tile %k[%b, %h, %j0] : tensor<?x1x?x64xbf16> -> !attn.tile<128x64xbf16>
    %6 = attn.dot %0, %5 : !attn.tile<128x64xbf16>, !attn.tile<128x64xbf16> -> !attn.tile<128x128xf32>
    %new_max, %new_sum, %p, %alpha = attn.online_softmax %6, %m, %l exp2_scale(0.180336878) : !attn.tile<128x128xf32>, !attn.tile<128xf32>, !attn.tile<128xf32> -> !attn.tile<128xf32>, !attn.tile<128xf32>, !attn.tile<128x128xf32>, !attn.tile<128xf32>
    %7 = attn.cast %p : !attn.tile<128x128xf32> to !attn.tile<128x128xbf16>
    %8 = attn.load_tile %v[%b, %h, %j0] : tensor<?x1x?x64xbf16> -> !attn.tile<128x64xbf16>
    // expected-error@below {{QM0407: the accumulation is of the softmax}}
    %9 = attn.accumulate %7, %5 into %acc scaled_by %alpha : !attn.tile<128x128xbf16>, !attn.tile<128x64xbf16>, !attn.tile<128x64xf32>, !attn.tile<128xf32> -> !attn.tile<128x64xf32>
    attn.yield %new_max, %new_sum, %9 : !attn.tile<128xf32>, !attn.tile<128xf32>, !attn.tile<128x64xf32>
  }
  %o_0, %lse = attn.normalize %4#2 by %4#1 max %4#0 exp2_scale(0.180336878) : !attn.tile<128x64xf32>, !attn.tile<128xf32>, !attn.tile<128xf32> -> !attn.tile<128x64xf32>, !attn.tile<128xf32>
  attn.store_tile %o_0, %o[%b, %h, %i0] : !attn.tile<128x64xf32>, tensor<?x1x?x64xbf16>
}
