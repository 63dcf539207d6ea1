// Every score function of the catalogue through the whole compiler.
#include <qm/attention.h>
using namespace qm;

static void shape(Spec &spec) {
  spec.heads(2).headDim(64).dtype(f16).returnLse();
}

QM_ATTENTION(alibi_paper) {
  shape(spec);
  spec.score(alibi());
  spec.mask(causal(TopLeft));
}

QM_ATTENTION(alibi_slopes) {
  shape(spec);
  auto slopes = spec.buffer("slopes", f32, spec.heads());
  spec.score(alibi(slopes));
  spec.mask(causal(TopLeft));
}

QM_ATTENTION(alibi_both_ways) {
  shape(spec);
  auto slopes = spec.buffer("slopes", f32, spec.heads());
  spec.score(alibiBidirectional(slopes));
}

QM_ATTENTION(softcap_30) {
  shape(spec);
  spec.score(softcap(30));
}

QM_ATTENTION(softcap_30_approximate) {
  shape(spec);
  spec.score(softcap(30, Accuracy::Approximate));
}

QM_ATTENTION(temperature_heads) {
  shape(spec);
  auto weights = spec.buffer("weights", f32, spec.heads());
  spec.score(temperature(weights));
}

QM_ATTENTION(relative_position) {
  shape(spec);
  spec.score(relativePosition(0.1f));
}

QM_ATTENTION(relative_distance) {
  shape(spec);
  spec.score(relativeDistance(-0.1f));
}

QM_ATTENTION(relative_table) {
  shape(spec);
  auto table = spec.buffer("table", f16, spec.heads(), 17);
  spec.score(relativeTable(table, 8));
}

QM_ATTENTION(t5_both_ways) {
  shape(spec);
  auto table = spec.buffer("table", f32, 32, spec.heads());
  spec.score(t5Bias(table));
}

QM_ATTENTION(t5_causal) {
  shape(spec);
  auto table = spec.buffer("table", bf16, 16, spec.heads());
  spec.score(t5Bias(table, 16, 64, Causal));
  spec.mask(causal(TopLeft));
}

QM_ATTENTION(head_bias) {
  shape(spec);
  auto slopes = spec.buffer("slopes", f32, spec.heads());
  spec.score(headBias(slopes));
}

QM_ATTENTION(batch_bias) {
  shape(spec);
  auto bias = spec.buffer("bias", f32, spec.batch());
  spec.score(batchBias(bias));
}

QM_ATTENTION(dense_bias) {
  shape(spec);
  auto bias = spec.buffer("bias", f16, spec.batch(), spec.heads(),
                          spec.queryLength(), spec.keyLength());
  spec.score(denseBias(bias));
}

QM_ATTENTION(dense_bias_shared) {
  shape(spec);
  auto bias = spec.buffer("bias", f32, spec.heads(), spec.queryLength(),
                          spec.keyLength());
  spec.score(denseBias(bias));
}

QM_ATTENTION(dual_buffer) {
  shape(spec);
  auto slopes = spec.buffer("slopes", f32, spec.heads());
  auto rows = spec.buffer("rows", f32, spec.queryLength());
  spec.score(dualBuffer(slopes, rows));
}

QM_ATTENTION(sandwich_8) {
  shape(spec);
  spec.score(sandwich(8));
}

QM_ATTENTION(graphormer) {
  shape(spec);
  auto bias = spec.buffer("bias", f32, spec.heads(), 8);
  auto distance = spec.buffer("distance", i32, spec.batch(), spec.queryLength(),
                              spec.keyLength());
  spec.score(graphormerSpatial(bias, distance));
}

QM_ATTENTION(graphormer_edges) {
  shape(spec);
  auto bias = spec.buffer("bias", f32, 2, spec.heads(), 8);
  auto types = spec.buffer("types", i32, spec.batch(), spec.queryLength(),
                           spec.keyLength(), 2);
  auto lengths = spec.buffer("lengths", i32, spec.batch(), spec.queryLength(),
                             spec.keyLength());
  spec.score(graphormerEdge(bias, types, lengths, 2));
}

QM_ATTENTION(rotary_part) {
  spec.heads(4).kvHeads(2).headDim(64).dtype(bf16).returnLse();
  auto q = spec.buffer("rotary_q", bf16, spec.batch(), spec.heads(),
                       spec.queryLength(), 4);
  auto k = spec.buffer("rotary_k", bf16, spec.batch(), spec.kvHeads(),
                       spec.keyLength(), 4);
  spec.score(addedDot(q, k, 4, 0.125f));
  spec.mask(causal(TopLeft));
}

QM_ATTENTION(relu_attention) {
  shape(spec);
  spec.score(logActivation(0.5f));
}

// Arithmetic on i xor j and gathers from two buffers.
QM_ATTENTION(checkerboard) {
  shape(spec);
  auto rows = spec.buffer("rows", f32, spec.queryLength());
  auto columns = spec.buffer("columns", f16, spec.keyLength());
  spec.score([=](Score s, Batch, Head h, Query i, Key j) {
    Index cell = (i ^ j) & 7;
    return select(cell > h, s * 0.5f, s + rows[i] * columns[j]) -
           0.125f * toFloat(cell);
  });
}

QM_ATTENTION(squared_score) {
  shape(spec);
  spec.score(squared());
}

QM_ATTENTION(window_as_score) {
  shape(spec);
  spec.score(maskAsScore(slidingWindow(12, 4)));
}

QM_ATTENTION(causal_score) {
  shape(spec);
  spec.score(causalAsScore(TopLeft));
}

QM_ATTENTION(softcap_then_alibi) {
  shape(spec);
  auto slopes = spec.buffer("slopes", f32, spec.heads());
  spec.score(softcap(30).then(alibi(slopes)));
  spec.mask(causal(TopLeft));
}
