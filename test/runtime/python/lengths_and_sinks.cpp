// What mirrored_specs.py writes in Python: lengths, sinks, statistics, sorted
// buffers.
#include <qm/attention.h>
using namespace qm;

QM_ATTENTION(packed_sequences) {
  spec.heads(8).kvHeads(2).headDim(64).dtype(f16).packed().returnLse();
  auto slopes = spec.buffer("slopes", f32, spec.heads());
  spec.score([=](Score s, Batch b, Head h, Query i, Key j) {
    return s + slopes[h] * (j - i) * toFloat(b);
  });
  spec.mask(causal(BottomRight));
}

QM_ATTENTION(padded_sequences) {
  spec.heads(4).headDim(64).scale(0.5f).padded();
  spec.mask(causal(BottomRight) && slidingWindow(100));
}

QM_ATTENTION(sinks) {
  spec.heads(4).headDim(64).returnLse().returnRowMax();
  auto logits = spec.buffer("logits", bf16, spec.heads());
  spec.sink(logits);
  spec.mask(causal(TopLeft));
}

QM_ATTENTION(computed_sinks) {
  spec.heads(4).headDim(64).returnRowMax();
  spec.sink([](Batch b, Head h) { return toFloat(h + b) * 0.5f - 1; });
}

QM_ATTENTION(sorted_documents) {
  spec.heads(4).headDim(64);
  auto ids = spec.buffer("ids", i32, spec.batch(), spec.queryLength()).sorted();
  spec.mask(document(ids) && causal(TopLeft));
}
