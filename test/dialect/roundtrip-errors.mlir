// RUN: qm-opt %s --verify-diagnostics --split-input-file

// Operands have four dimensions.
func.func @rank(%q: tensor<8x?x64xbf16>, %k: tensor<?x8x?x64xbf16>, %v: tensor<?x8x?x64xbf16>) {
  // expected-error @below {{QM0201: q has rank 3, 4 needed: 'tensor<8x?x64xbf16>'}}
  // expected-note @below {{help: write it as [batch, heads, sequence, head dim]}}
  %o = attn.attention q(%q) k(%k) v(%v) : tensor<8x?x64xbf16>, tensor<?x8x?x64xbf16>, tensor<?x8x?x64xbf16> -> tensor<?x8x?x64xbf16>
  return
}

// -----

// q and k multiply over one head dim.
func.func @head_dim(%q: tensor<?x8x?x64xbf16>, %k: tensor<?x8x?x32xbf16>, %v: tensor<?x8x?x64xbf16>) {
  // expected-error @below {{QM0202: head dim of q and k differs: 64 and 32}}
  // expected-note @below {{help: only q may have more heads, and v a head dim of its own}}
  %o = attn.attention q(%q) k(%k) v(%v) : tensor<?x8x?x64xbf16>, tensor<?x8x?x32xbf16>, tensor<?x8x?x64xbf16> -> tensor<?x8x?x64xbf16>
  return
}

// -----

// The output follows from the operands.
func.func @output(%q: tensor<?x8x?x64xbf16>, %k: tensor<?x8x?x64xbf16>, %v: tensor<?x8x?x32xbf16>) {
  // expected-error @below {{QM0202: o is 'tensor<?x8x?x64xbf16>', the operands make it 'tensor<?x8x?x32xbf16>'}}
  // expected-note @below {{help: o has batch, heads, rows and element type of q, and the head dim of v}}
  %o = attn.attention q(%q) k(%k) v(%v) : tensor<?x8x?x64xbf16>, tensor<?x8x?x64xbf16>, tensor<?x8x?x32xbf16> -> tensor<?x8x?x64xbf16>
  return
}

// -----

// Grouped heads need a divisor.
func.func @heads(%q: tensor<?x30x?x64xbf16>, %k: tensor<?x8x?x64xbf16>, %v: tensor<?x8x?x64xbf16>) {
  // expected-error @below {{QM0203: 30 query heads are not a multiple of 8 key/value heads}}
  // expected-note @below {{help: choose a number of key/value heads that divides 30}}
  %o = attn.attention q(%q) k(%k) v(%v) : tensor<?x30x?x64xbf16>, tensor<?x8x?x64xbf16>, tensor<?x8x?x64xbf16> -> tensor<?x30x?x64xbf16>
  return
}

// -----

// Head counts shape the kernel.
func.func @static(%q: tensor<?x?x?x64xbf16>, %k: tensor<?x8x?x64xbf16>, %v: tensor<?x8x?x64xbf16>) {
  // expected-error @below {{QM0204: heads and head dim of q must be numbers}}
  // expected-note @below {{help: only batch and sequence length may be '?'}}
  %o = attn.attention q(%q) k(%k) v(%v) : tensor<?x?x?x64xbf16>, tensor<?x8x?x64xbf16>, tensor<?x8x?x64xbf16> -> tensor<?x?x?x64xbf16>
  return
}

// -----

// One element type.
func.func @element(%q: tensor<?x8x?x64xbf16>, %k: tensor<?x8x?x64xf16>, %v: tensor<?x8x?x64xbf16>) {
  // expected-error @below {{QM0205: q holds 'bf16', k holds 'f16'}}
  // expected-note @below {{help: cast before the call}}
  %o = attn.attention q(%q) k(%k) v(%v) : tensor<?x8x?x64xbf16>, tensor<?x8x?x64xf16>, tensor<?x8x?x64xbf16> -> tensor<?x8x?x64xbf16>
  return
}

// -----

// An additive value in a mask is a type error, never a reinterpretation.
func.func @mask_type(%q: tensor<?x8x?x64xbf16>, %k: tensor<?x8x?x64xbf16>, %v: tensor<?x8x?x64xbf16>) {
  %o = attn.attention q(%q) k(%k) v(%v)
    mask (%b, %h, %i, %j) {
      %f = arith.constant 0.0 : f32
      // expected-error @below {{QM0206: a mask region must end with attn.yield of ('i1')}}
      // expected-note @below {{help: a mask decides with i1; an additive bias belongs into score}}
      attn.yield %f : f32
    } : tensor<?x8x?x64xbf16>, tensor<?x8x?x64xbf16>, tensor<?x8x?x64xbf16> -> tensor<?x8x?x64xbf16>
  return
}

// -----

// Control flow has no place in a region that is inlined into every element.
func.func @region_op(%q: tensor<?x8x?x64xbf16>, %k: tensor<?x8x?x64xbf16>, %v: tensor<?x8x?x64xbf16>) {
  %o = attn.attention q(%q) k(%k) v(%v)
    score (%s, %b, %h, %i, %j) {
      // expected-error @below {{QM0207: 'func.call' cannot stand in a score region}}
      // expected-note @below {{help: use scalar arith and math operations of one result, attn.load and attn.extent}}
      %t = func.call @other(%s) : (f32) -> f32
      attn.yield %t : f32
    } : tensor<?x8x?x64xbf16>, tensor<?x8x?x64xbf16>, tensor<?x8x?x64xbf16> -> tensor<?x8x?x64xbf16>
  return
}
func.func private @other(f32) -> f32

// -----

// Operations of two results have no element to become.
func.func @region_two_results(%q: tensor<?x8x?x64xbf16>, %k: tensor<?x8x?x64xbf16>, %v: tensor<?x8x?x64xbf16>) {
  %o = attn.attention q(%q) k(%k) v(%v)
    mask (%b, %h, %i, %j) {
      // expected-error @below {{QM0207: 'arith.mulsi_extended' cannot stand in a mask region}}
      // expected-note @below {{help: use scalar arith and math operations of one result, attn.load and attn.extent}}
      %low, %high = arith.mulsi_extended %i, %j : i32
      %c = arith.cmpi eq, %high, %low : i32
      attn.yield %c : i1
    } : tensor<?x8x?x64xbf16>, tensor<?x8x?x64xbf16>, tensor<?x8x?x64xbf16> -> tensor<?x8x?x64xbf16>
  return
}

// -----

// One index a dimension.
func.func @load_rank(%q: tensor<?x8x?x64xbf16>, %k: tensor<?x8x?x64xbf16>, %v: tensor<?x8x?x64xbf16>, %t: tensor<8x?xf32>) {
  %o = attn.attention q(%q) k(%k) v(%v)
    score (%s, %b, %h, %i, %j) {
      // expected-error @below {{QM0208: 1 indices into a buffer of rank 2: 'tensor<8x?xf32>'}}
      // expected-note @below {{help: give one index a dimension}}
      %x = attn.load %t[%h] : tensor<8x?xf32>
      attn.yield %x : f32
    } : tensor<?x8x?x64xbf16>, tensor<?x8x?x64xbf16>, tensor<?x8x?x64xbf16> -> tensor<?x8x?x64xbf16>
  return
}

// -----

// Captures are arguments of the function.
func.func @capture(%q: tensor<?x8x?x64xbf16>, %k: tensor<?x8x?x64xbf16>, %v: tensor<?x8x?x64xbf16>) {
  %outside = arith.constant 1.0 : f32
  %o = attn.attention q(%q) k(%k) v(%v)
    score (%s, %b, %h, %i, %j) {
      // expected-error @below {{QM0209: operand of type 'f32' is computed outside the region}}
      // expected-note @below {{help: compute it inside, or pass it as an argument}}
      %x = arith.addf %s, %outside : f32
      attn.yield %x : f32
    } : tensor<?x8x?x64xbf16>, tensor<?x8x?x64xbf16>, tensor<?x8x?x64xbf16> -> tensor<?x8x?x64xbf16>
  return
}

// -----

// A kernel has one loop over key blocks.
// expected-error @below {{QM0210: a kernel has exactly one attn.key_blocks loop}}
// expected-note @below {{help: dialect/README.md shows a kernel and what its operations take}}
attn.kernel @no_loop(%q: tensor<?x2x?x64xf16>, %k: tensor<?x2x?x64xf16>, %v: tensor<?x2x?x64xf16>) outs(%o: tensor<?x2x?x64xf16>)
    attributes {arg_names = ["q", "k", "v", "o"]} {
  %b, %h, %i0 = attn.tile_position
}

// -----

// Products need one inner extent.
func.func @dot(%a: !attn.tile<64x64xf16>, %b: !attn.tile<32x32xf16>) {
  // expected-error @below {{QM0211: the rows of '!attn.tile<64x64xf16>' and '!attn.tile<32x32xf16>' have no dot product}}
  // expected-note @below {{help: dialect/README.md shows a kernel and what its operations take}}
  %s = attn.dot %a, %b : !attn.tile<64x64xf16>, !attn.tile<32x32xf16> -> !attn.tile<64x32xf32>
  return
}

// -----

// Booleans are stored as bytes.
func.func @capture_type(%q: tensor<?x8x?x64xbf16>, %k: tensor<?x8x?x64xbf16>, %v: tensor<?x8x?x64xbf16>, %t: tensor<?xi1>) {
  %o = attn.attention q(%q) k(%k) v(%v)
    mask (%b, %h, %i, %j) {
      // expected-error @below {{QM0212: a buffer of 'i1' cannot be captured}}
      // expected-note @below {{help: use f16, bf16, f32, f64, i8, i16, i32 or i64; booleans as i8}}
      %x = attn.load %t[%j] : tensor<?xi1>
      attn.yield %x : i1
    } : tensor<?x8x?x64xbf16>, tensor<?x8x?x64xbf16>, tensor<?x8x?x64xbf16> -> tensor<?x8x?x64xbf16>
  return
}

// -----

// expected-error @below {{a tile holds f16, bf16, tf32 or f32, not 'i32'}}
func.func @tile_element(%a: !attn.tile<64x64xi32>) { return }

// -----

// Lengths are two: of the queries and of the keys.
func.func @one_length(%q: tensor<1x8x?x64xbf16>, %k: tensor<1x8x?x64xbf16>, %v: tensor<1x8x?x64xbf16>) {
  // expected-error @below {{QM0213: 0 lengths; one for the queries and one for the keys needed}}
  // expected-note @below {{help: write packed(%cu_q, %cu_kv) with two arguments of type tensor<?xi32>, or padded(%len_q, %len_kv)}}
  %o = "attn.attention"(%q, %k, %v) <{packed}> ({}, {}, {}) : (tensor<1x8x?x64xbf16>, tensor<1x8x?x64xbf16>, tensor<1x8x?x64xbf16>) -> tensor<1x8x?x64xbf16>
  return
}

// -----

// Kernels read lengths from their arguments.
func.func @computed_lengths(%q: tensor<1x8x?x64xbf16>, %k: tensor<1x8x?x64xbf16>, %v: tensor<1x8x?x64xbf16>, %cu: tensor<?xi32>) {
  %twice = arith.addi %cu, %cu : tensor<?xi32>
  // expected-error @below {{QM0213: lengths are computed here; they must be arguments}}
  // expected-note @below {{help: write packed(%cu_q, %cu_kv)}}
  %o = attn.attention q(%q) k(%k) v(%v) packed(%cu, %twice) : tensor<1x8x?x64xbf16>, tensor<1x8x?x64xbf16>, tensor<1x8x?x64xbf16> -> tensor<1x8x?x64xbf16>
  return
}

// -----

// Packed sequences share one batch entry.
func.func @packed_batch(%q: tensor<?x8x?x64xbf16>, %k: tensor<?x8x?x64xbf16>, %v: tensor<?x8x?x64xbf16>, %cu: tensor<?xi32>) {
  // expected-error @below {{QM0213: packed sequences lie in tensors with a batch extent of 1, not 'tensor<?x8x?x64xbf16>'}}
  // expected-note @below {{help: write [1, heads, tokens, head dim]: sequences lie one after the other along the tokens}}
  %o = attn.attention q(%q) k(%k) v(%v) packed(%cu, %cu) : tensor<?x8x?x64xbf16>, tensor<?x8x?x64xbf16>, tensor<?x8x?x64xbf16> -> tensor<?x8x?x64xbf16>
  return
}

// -----

// So do those of a kernel, which has one position.
attn.kernel @packed_kernel(%q: tensor<?x2x?x64xf16>, %k: tensor<?x2x?x64xf16>, %v: tensor<?x2x?x64xf16>, %cu: tensor<?xi32>) outs(%o: tensor<?x2x?x64xf16>)
    attributes {arg_names = ["q", "k", "v", "cu", "o"]} {
  // expected-error @below {{QM0213: packed sequences lie in tensors with a batch extent of 1}}
  // expected-note @below {{help: write [1, heads, tokens, head dim]}}
  %b, %h, %i0 = attn.tile_position packed(%cu, %cu)
  %m0 = attn.fill 0.0 : !attn.tile<?xf32>
  %r = attn.key_blocks (%j0) iter(%m = %m0) : !attn.tile<?xf32> {
    attn.yield %m : !attn.tile<?xf32>
  }
}

// -----

// expected-error @below {{QM0210: a kernel asks for its tile's position once}}
// expected-note @below {{help: dialect/README.md shows a kernel and what its operations take}}
attn.kernel @two_positions(%q: tensor<?x2x?x64xf16>, %k: tensor<?x2x?x64xf16>, %v: tensor<?x2x?x64xf16>) outs(%o: tensor<?x2x?x64xf16>)
    attributes {arg_names = ["q", "k", "v", "o"]} {
  %b, %h, %i0 = attn.tile_position
  %b2, %h2, %i2 = attn.tile_position
  %m0 = attn.fill 0.0 : !attn.tile<?xf32>
  %r = attn.key_blocks (%j0) iter(%m = %m0) : !attn.tile<?xf32> {
    attn.yield %m : !attn.tile<?xf32>
  }
}

// -----

// A sink is a number.
func.func @sink_type(%q: tensor<?x8x?x64xbf16>, %k: tensor<?x8x?x64xbf16>, %v: tensor<?x8x?x64xbf16>) -> tensor<?x8x?x64xbf16> {
  %o = attn.attention q(%q) k(%k) v(%v) sink (%b, %h) {
    // expected-error @below {{QM0206: a sink region must end with attn.yield of ('f32')}}
    // expected-note @below {{help: see the description of the operation}}
    attn.yield %h : i32
  } : tensor<?x8x?x64xbf16>, tensor<?x8x?x64xbf16>, tensor<?x8x?x64xbf16> -> tensor<?x8x?x64xbf16>
  return %o : tensor<?x8x?x64xbf16>
}

// -----

// The row maximum was asked for and has no result.
func.func @statistics(%q: tensor<?x8x?x64xbf16>, %k: tensor<?x8x?x64xbf16>, %v: tensor<?x8x?x64xbf16>) -> tensor<?x8x?x64xbf16> {
  // expected-error @below {{QM0202: 0 results after o; row_max, or lse and row_max expected}}
  // expected-note @below {{help: `row_max` asks for the maximum as the last result; lse comes before it}}
  %o = attn.attention q(%q) k(%k) v(%v) row_max : tensor<?x8x?x64xbf16>, tensor<?x8x?x64xbf16>, tensor<?x8x?x64xbf16> -> tensor<?x8x?x64xbf16>
  return %o : tensor<?x8x?x64xbf16>
}

// -----

// Searches belong to bounds.
func.func @search(%q: tensor<?x8x?x64xbf16>, %k: tensor<?x8x?x64xbf16>, %v: tensor<?x8x?x64xbf16>, %ids: tensor<?xi32>) -> tensor<?x8x?x64xbf16> {
  %o = attn.attention q(%q) k(%k) v(%v) mask (%b, %h, %i, %j) {
    // expected-error @below {{QM0207: 'attn.search' cannot stand in a mask region}}
    // expected-note @below {{help: use scalar arith and math operations of one result, attn.load and attn.extent}}
    %n = attn.search %ids[] for %i : tensor<?xi32>
    %c = arith.cmpi sge, %n, %j : i32
    attn.yield %c : i1
  } : tensor<?x8x?x64xbf16>, tensor<?x8x?x64xbf16>, tensor<?x8x?x64xbf16> -> tensor<?x8x?x64xbf16>
  return %o : tensor<?x8x?x64xbf16>
}

// -----

// All indices but the last choose the row that is searched, and elements are integers of at most 32 bits.
func.func @search_rank(%ids: tensor<2x?xi32>, %x: i32) {
  // expected-error @below {{QM0208: 2 indices for a search in a buffer of rank 2}}
  // expected-note @below {{help: give one index for each dimension but the last}}
  %n = attn.search %ids[%x, %x] for %x : tensor<2x?xi32>
  return
}

// -----

func.func @search_type(%ids: tensor<?xf32>, %x: i32) {
  // expected-error @below {{QM0212: a buffer of 'f32' cannot be searched}}
  // expected-note @below {{help: search in i8, i16 or i32}}
  %n = attn.search %ids[] for %x : tensor<?xf32>
  return
}

// -----

// Extrema are of a range along one dimension, which the buffer has.
func.func @extrema_dimension(%ids: tensor<2x?xi32>, %x: i32) {
  // expected-error @below {{QM0208: 2 indices and a range along dimension 2 for a buffer of rank 2}}
  // expected-note @below {{help: give one index for each dimension of the buffer}}
  %least, %greatest = attn.extrema %ids[%x, %x] to %x along 2 : tensor<2x?xi32>
  return
}

// -----

func.func @extrema_type(%ids: tensor<?xf32>, %x: i32) {
  // expected-error @below {{QM0212: a buffer of 'f32' has no extrema}}
  // expected-note @below {{help: use i8, i16, i32 or i64}}
  %least, %greatest = attn.extrema %ids[%x] to %x along 0 : tensor<?xf32>
  return
}

// -----

// No call has this element; the first and the last that a dimension has are fine.
func.func @gather_outside(%q: tensor<?x8x?x64xbf16>, %k: tensor<?x8x?x64xbf16>, %v: tensor<?x8x?x64xbf16>, %table: tensor<?x4xf32>) -> tensor<?x8x?x64xbf16> {
  %o = attn.attention q(%q) k(%k) v(%v) score (%s, %b, %h, %i, %j) {
    %zero = arith.constant 0 : i32
    %three = arith.constant 3 : i32
    %four = arith.constant 4 : i32
    %x = attn.load %table[%three, %three] : tensor<?x4xf32>
    // expected-error @below {{QM0214: index 4 is outside of dimension 1 of 'tensor<?x4xf32>'}}
    // expected-note @below {{help: indices start at 0; an index that is computed is clamped to the buffer}}
    %y = attn.load %table[%zero, %four] : tensor<?x4xf32>
    %t = arith.addf %x, %y : f32
    attn.yield %t : f32
  } : tensor<?x8x?x64xbf16>, tensor<?x8x?x64xbf16>, tensor<?x8x?x64xbf16> -> tensor<?x8x?x64xbf16>
  return %o : tensor<?x8x?x64xbf16>
}
