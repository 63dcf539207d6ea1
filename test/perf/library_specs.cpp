// 25 specs; with two element types and two head dims, the library of 100
// kernels that library_bars.py measures.
#include <qm/attention.h>

using namespace qm;

static Spec &shape(Spec &spec) { return spec.heads(16).kvHeads(4).headDim(64); }

static void window(Spec &spec, int keys) {
  shape(spec).mask(causal(BottomRight) && slidingWindow(keys));
}

static void cap(Spec &spec, float limit) {
  shape(spec).mask(causal(BottomRight));
  spec.score([=](Score s, Batch, Head, Query, Key) {
    return limit * tanh(s / limit);
  });
}

static void alibi(Spec &spec, float factor) {
  shape(spec).mask(causal(BottomRight));
  auto slopes = spec.buffer("slopes", f32, spec.heads());
  spec.score([=](Score s, Batch, Head h, Query i, Key j) {
    return s + slopes[h] * factor * (j - i);
  });
}

static void padding(Spec &spec, int ahead) {
  auto lengths = shape(spec).buffer("lengths", i32, spec.batch());
  spec.mask([=](Batch b, Head, Query i, Key j) {
    return j < lengths[b] && j <= i + ahead;
  });
}

static void bias(Spec &spec, float reach) {
  Float factor = shape(spec).param("factor", f32);
  spec.score([=](Score s, Batch, Head, Query i, Key j) {
    return s - factor * abs(j - i) / reach;
  });
}

QM_ATTENTION(full) { shape(spec); }
QM_ATTENTION(full_lse) { shape(spec).returnLse(); }
QM_ATTENTION(causal_0) { shape(spec).mask(causal(BottomRight)); }
QM_ATTENTION(causal_lse) { shape(spec).mask(causal(BottomRight)).returnLse(); }
QM_ATTENTION(window_128) { window(spec, 128); }
QM_ATTENTION(window_256) { window(spec, 256); }
QM_ATTENTION(window_512) { window(spec, 512); }
QM_ATTENTION(window_1024) { window(spec, 1024); }
QM_ATTENTION(window_2048) { window(spec, 2048); }
QM_ATTENTION(window_4096) { window(spec, 4096); }
QM_ATTENTION(window_8192) { window(spec, 8192); }
QM_ATTENTION(cap_10) { cap(spec, 10); }
QM_ATTENTION(cap_20) { cap(spec, 20); }
QM_ATTENTION(cap_30) { cap(spec, 30); }
QM_ATTENTION(cap_50) { cap(spec, 50); }
QM_ATTENTION(alibi_1) { alibi(spec, 1); }
QM_ATTENTION(alibi_2) { alibi(spec, 2); }
QM_ATTENTION(alibi_3) { alibi(spec, 3); }
QM_ATTENTION(alibi_4) { alibi(spec, 4); }
QM_ATTENTION(pad_0) { padding(spec, 0); }
QM_ATTENTION(pad_16) { padding(spec, 16); }
QM_ATTENTION(pad_64) { padding(spec, 64); }
QM_ATTENTION(bias_1) { bias(spec, 1); }
QM_ATTENTION(bias_2) { bias(spec, 2); }
QM_ATTENTION(bias_3) { bias(spec, 3); }
