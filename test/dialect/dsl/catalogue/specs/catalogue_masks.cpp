// Every mask of the catalogue through the whole compiler, for sequences of 96.
#include <qm/attention.h>
using namespace qm;

static void shape(Spec &spec) {
  spec.heads(2).headDim(64).dtype(f16).returnLse();
}

QM_ATTENTION(dilated_window) {
  shape(spec);
  spec.mask(dilatedWindow(16, 3));
}

QM_ATTENTION(global_window) {
  shape(spec);
  auto flags = spec.buffer("flags", i1, spec.keyLength());
  spec.mask(globalWindow(8, flags));
}

QM_ATTENTION(sink_window) {
  shape(spec);
  spec.mask(sinkWindow(4, 20));
}

QM_ATTENTION(batch_window) {
  shape(spec);
  auto left = spec.buffer("left", i32, spec.batch());
  auto right = spec.buffer("right", i32, spec.batch());
  spec.mask(batchWindow(left, right));
}

QM_ATTENTION(block_causal) {
  shape(spec);
  spec.mask(blockCausal(20));
}

QM_ATTENTION(chunked_causal) {
  shape(spec);
  spec.mask(chunkedCausal(30));
}

QM_ATTENTION(block_diagonal) {
  shape(spec);
  spec.mask(blockDiagonal(24));
}

QM_ATTENTION(batchify_window) {
  shape(spec);
  spec.mask(batchify(32, slidingWindow(7, 3, TopLeft)));
}

QM_ATTENTION(mini_causal) {
  shape(spec);
  spec.mask(miniCausal(16));
}

QM_ATTENTION(block_diffusion) {
  shape(spec);
  spec.mask(blockDiffusion(48, 8));
}

QM_ATTENTION(document_by_offsets) {
  shape(spec);
  auto ids = spec.buffer("ids", i32, spec.queryLength());
  auto offsets = spec.buffer("offsets", i32, 8);
  spec.mask(documentCausalByOffsets(ids, offsets));
}

QM_ATTENTION(document_relative) {
  shape(spec);
  auto ids = spec.buffer("ids", i32, spec.batch(), spec.queryLength());
  auto offsets = spec.buffer("offsets", i32, 8);
  spec.mask(documentRelative(ids, offsets, slidingWindow(5, 0, TopLeft)));
}

QM_ATTENTION(shared_prefix) {
  shape(spec);
  auto ids = spec.buffer("ids", i32, spec.queryLength());
  auto prefixes = spec.buffer("prefixes", i32, 8);
  spec.mask(sharedPrefix(ids, prefixes));
}

QM_ATTENTION(var_scales) {
  shape(spec);
  auto scales = spec.buffer("scales", i32, spec.queryLength());
  spec.mask(varScales(scales));
}

QM_ATTENTION(image_bidirectional) {
  shape(spec);
  auto images = spec.buffer("images", i32, spec.batch(), spec.queryLength());
  spec.mask(imageBidirectional(images));
}

QM_ATTENTION(flamingo_images) {
  shape(spec);
  auto begin = spec.buffer("begin", i8, 8);
  auto end = spec.buffer("end", i32, 8);
  spec.mask(flamingo(begin, end, 12));
}

QM_ATTENTION(token_tree) {
  shape(spec);
  auto ancestors = spec.buffer("ancestors", i1, spec.queryLength(), 56);
  spec.mask(tree(40, ancestors));
}

QM_ATTENTION(row_threshold) {
  shape(spec);
  auto counts = spec.buffer("counts", i32, spec.batch(), spec.queryLength());
  spec.mask(rowThreshold(counts));
}

QM_ATTENTION(packed_bits) {
  shape(spec);
  auto words = spec.buffer("words", i32, spec.queryLength(), 3);
  spec.mask(packedBits(words));
}

QM_ATTENTION(top_k_blocks) {
  shape(spec);
  auto tiles = spec.buffer("tiles", i32, spec.batch(), spec.heads(), 6, 3);
  spec.mask(topKBlocks(tiles, 16, 3));
}

QM_ATTENTION(natten) {
  shape(spec);
  spec.mask(natten2d({.rows = 8, .columns = 12}, {3, 5}));
}

QM_ATTENTION(tiled_natten) {
  shape(spec);
  spec.mask(tiledNatten2d({8, 12}, {3, 5}, {2, 4}));
}

QM_ATTENTION(morton_natten) {
  shape(spec);
  spec.mask(mortonNatten2d(16, {5, 3}));
}

QM_ATTENTION(sta_image) {
  shape(spec);
  spec.mask(sta2d({8, 12}, {4, 4}, {1, 2}));
}

QM_ATTENTION(sta_video) {
  shape(spec);
  spec.mask(sta3d({4, 4, 5}, {2, 2, 5}, {1, 2, 1}, TextTail));
}

QM_ATTENTION(svg_spatial) {
  shape(spec);
  spec.mask(svgSpatial(6, 70, 2, FirstFrame));
}

QM_ATTENTION(svg_temporal) {
  shape(spec);
  spec.mask(svgTemporal(6, 18, 5, 2));
}
